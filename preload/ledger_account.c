/*
 * The ledger's sums: what is live per site, kind, device and pool, the highest moments and each
 * site's share of them, pages and rounding. Pure, like ledger.c.
 */
#include "preload/ledger_internal.h"

#include "preload/pages.h"

bool gmt_kind_on_device(enum gmt_kind kind)
{
	return kind == GMT_KIND_DEVICE || kind == GMT_KIND_POOL || kind == GMT_KIND_ARRAY ||
	       kind == GMT_KIND_VMM || kind == GMT_KIND_GRAPH;
}

/* Physical memory of the host stands only in kinds. */
static bool is_measured(const struct gmt_site *site)
{
	return gmt_kind_on_device(site->kind) &&
	       (site->kind != GMT_KIND_VMM || site->device != GMT_NO_DEVICE);
}

static struct gmt_device *device_of(struct gmt_ledger *ledger, int32_t ordinal)
{
	return ordinal >= 0 && ordinal < GMT_MAX_DEVICES ? &ledger->devices[ordinal] : NULL;
}

/* The generation that a site's share of the moment is compared with. */
static uint64_t generation_of(const struct gmt_ledger *ledger, const struct gmt_site *site,
			      enum gmt_moment moment)
{
	const struct gmt_device *device = device_of((struct gmt_ledger *)ledger, site->device);

	if (moment == GMT_MOMENT_PROCESS_PEAK)
		return ledger->process_scope.generation;
	if (!device)
		return 0;
	return moment == GMT_MOMENT_DEVICE_PEAK ? device->scope.generation
						: device->pages.generation;
}

static struct gmt_share live_share(const struct gmt_site *site, enum gmt_moment moment)
{
	struct gmt_share share = { site->live_bytes, site->live_blocks, 0 };

	if (moment == GMT_MOMENT_WORST_PINNED) {
		share.bytes = site->small_bytes;
		share.blocks = site->small_blocks;
	}
	return share;
}

struct gmt_share gmt_ledger_share(const struct gmt_ledger *ledger, const struct gmt_site *site,
				  enum gmt_moment moment)
{
	if (!is_measured(site))
		return (struct gmt_share){ 0, 0, 0 };
	if (site->at[moment].generation == generation_of(ledger, site, moment))
		return site->at[moment];
	return live_share(site, moment);
}

/* Before a site changes: keep what it had at each moment, unless that is already kept. */
static void keep_shares(struct gmt_ledger *ledger, struct gmt_site *site)
{
	if (!is_measured(site))
		return;
	for (int moment = 0; moment < GMT_NR_MOMENTS; moment++) {
		uint64_t generation = generation_of(ledger, site, moment);

		if (site->at[moment].generation == generation)
			continue;
		site->at[moment] = live_share(site, moment);
		site->at[moment].generation = generation;
	}
}

static void scope_add(struct gmt_scope *scope, uint64_t bytes, uint64_t time_ns)
{
	scope->live_bytes += bytes;
	scope->live_blocks++;
	if (scope->live_bytes <= scope->peak_bytes)
		return;
	scope->peak_bytes = scope->live_bytes;
	scope->peak_blocks = scope->live_blocks;
	scope->peak_time_ns = time_ns;
	scope->generation++;
}

static void scope_take(struct gmt_scope *scope, uint64_t bytes)
{
	scope->live_bytes -= bytes;
	scope->live_blocks--;
}

static uint64_t rounding_of(const struct gmt_block *block)
{
	uint64_t over = block->bytes & (GMT_PAGE_BYTES - 1);

	if (block->site->kind != GMT_KIND_DEVICE || gmt_block_is_small(block) || !over)
		return 0;
	return GMT_PAGE_BYTES - over;
}

static void note_worst(struct gmt_page_totals *pages, uint64_t time_ns)
{
	uint64_t pinned = (pages->small_pages << GMT_PAGE_SHIFT) - pages->small_bytes;

	if (pinned <= pages->worst_pinned)
		return;
	pages->worst_pinned = pinned;
	pages->worst_pages = pages->small_pages;
	pages->worst_small_bytes = pages->small_bytes;
	pages->worst_time_ns = time_ns;
	pages->generation++;
}

/* The block enters the pages and the device's page account. */
static void page_in(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
{
	struct gmt_device *device = device_of(ledger, block->site->device);
	bool known = gmt_block_has_addresses(block) && gmt_pages_insert(ledger->pages, block);

	if (!device)
		return;
	device->pages.rounding_bytes += rounding_of(block);
	if (!known || !gmt_block_is_small(block))
		return;
	if (block->page->nr_small == 1)
		device->pages.small_pages++;
	device->pages.small_bytes += block->bytes;
	device->pages.small_blocks++;
	block->site->small_bytes += block->bytes;
	block->site->small_blocks++;
	note_worst(&device->pages, time_ns);
}

static void page_out(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
{
	struct gmt_device *device = device_of(ledger, block->site->device);
	struct gmt_page *page = block->page;

	gmt_pages_remove(ledger->pages, block);
	if (!device)
		return;
	device->pages.rounding_bytes -= rounding_of(block);
	if (!page || !gmt_block_is_small(block))
		return;
	if (page->nr_small == 0)
		device->pages.small_pages--;
	device->pages.small_bytes -= block->bytes;
	device->pages.small_blocks--;
	block->site->small_bytes -= block->bytes;
	block->site->small_blocks--;
	note_worst(&device->pages, time_ns);
}

/* Adds a block to every sum of live bytes. */
void gmt_ledger_count_in(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
{
	struct gmt_site *site = block->site;
	struct gmt_kind_totals *kind = &ledger->kinds[site->kind];
	struct gmt_device *device = device_of(ledger, site->device);

	keep_shares(ledger, site);
	site->live_bytes += block->bytes;
	site->live_blocks++;
	if (site->live_bytes > site->peak_bytes)
		site->peak_bytes = site->live_bytes;
	kind->live_bytes += block->bytes;
	kind->live_blocks++;
	if (kind->live_bytes > kind->peak_bytes)
		kind->peak_bytes = kind->live_bytes;
	if (block->pool) {
		block->pool->used_bytes += block->bytes;
		if (block->pool->used_bytes > block->pool->used_peak)
			block->pool->used_peak = block->pool->used_bytes;
	}
	page_in(ledger, block, time_ns);
	if (!is_measured(site))
		return;
	if (device) {
		device->seen = true;
		scope_add(&device->scope, block->bytes, time_ns);
	}
	scope_add(&ledger->process_scope, block->bytes, time_ns);
}

void gmt_ledger_count_out(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
{
	struct gmt_site *site = block->site;
	struct gmt_device *device = device_of(ledger, site->device);

	keep_shares(ledger, site);
	site->live_bytes -= block->bytes;
	site->live_blocks--;
	ledger->kinds[site->kind].live_bytes -= block->bytes;
	ledger->kinds[site->kind].live_blocks--;
	if (block->pool)
		block->pool->used_bytes -= block->bytes;
	page_out(ledger, block, time_ns);
	if (!is_measured(site))
		return;
	if (device)
		scope_take(&device->scope, block->bytes);
	scope_take(&ledger->process_scope, block->bytes);
}
