/*
 * Fragmentation and balance, per device. Measured on an H200: holes between whole pages cost
 * nothing, but a 2 MiB page that holds one small block (up to 1 MiB) is held whole. So what counts
 * is how much of such pages nobody asked for, and which call sites keep the pages.
 */
#include "report/analysis.h"

#include <stdlib.h>

#include "report/heap.h"

/* A small live block: which site keeps which page. */
struct pin {
	uint64_t site; /* the hash */
	uint64_t page;
	uint32_t index; /* of the ledger's site */
};

struct pins {
	struct pin *pins;
	uint64_t count, room;
	const struct gmt_analysis *analysis;
	bool failed;
};

static bool is_small(const struct gmt_block_view *block)
{
	return block->site->kind == GMT_KIND_DEVICE && block->bytes <= GMT_SMALL_MAX &&
	       block->state != GMT_BLOCK_RESET;
}

static bool note_pin(const struct gmt_block_view *block, void *data)
{
	struct pins *pins = data;

	if (!is_small(block) || block->site->device < 0)
		return true;
	if (pins->count == pins->room) {
		uint64_t wider = pins->room ? pins->room * 2 : 1024;
		struct pin *moved = realloc(pins->pins, wider * sizeof(*moved));

		if (!moved) {
			pins->failed = true;
			return false;
		}
		pins->pins = moved;
		pins->room = wider;
	}
	pins->pins[pins->count++] = (struct pin){
		.site = pins->analysis->origins[block->site->id - 1]->site,
		.page = block->addr >> GMT_PAGE_SHIFT,
		.index = block->site->id - 1,
	};
	return true;
}

static int compare_pins(const void *left, const void *right)
{
	const struct pin *a = left, *b = right;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/*
 * How many pages each site has small blocks in; of the ledger's sites that are one in the report,
 * the first that has blocks in a page is credited with it.
 */
static bool count_pages(const struct gmt_analysis *analysis, uint64_t *pages)
{
	struct pins pins = { .analysis = analysis };

	gmt_ledger_each_block(analysis->ledger, note_pin, &pins);
	if (!pins.failed && pins.count) {
		qsort(pins.pins, pins.count, sizeof(*pins.pins), compare_pins);
		for (uint64_t i = 0; i < pins.count; i++)
			pages[pins.pins[i].index] += i == 0 ||
						     pins.pins[i].site != pins.pins[i - 1].site ||
						     pins.pins[i].page != pins.pins[i - 1].page;
	}
	free(pins.pins);
	return !pins.failed;
}

static bool find_pinners(struct gmt_analysis *analysis, const uint64_t *pages,
			 struct gmt_report_device *device)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	size_t room = (size_t)ledger->nr_sites + 1;
	struct gmt_report_share *now = calloc(2 * room, sizeof(*now)), *then = now + room;
	uint32_t nr_now = 0, nr_then = 0;
	bool done;

	if (!now)
		return false;
	for (uint32_t i = 0; i < ledger->nr_sites; i++) {
		const struct gmt_site *site = ledger->sites[i];
		struct gmt_report_share share = { .stack = analysis->origins[i], .order = i };
		struct gmt_share worst;

		if (site->device != device->ordinal || site->kind != GMT_KIND_DEVICE)
			continue;
		worst = gmt_ledger_share(ledger, site, GMT_MOMENT_WORST_PINNED);
		share.bytes = worst.bytes;
		share.blocks = worst.blocks;
		if (worst.blocks)
			then[nr_then++] = share;
		share.worst_bytes = worst.bytes;
		share.worst_blocks = worst.blocks;
		share.bytes = site->small_bytes;
		share.blocks = site->small_blocks;
		share.pages = pages[i];
		if (site->small_blocks || worst.blocks)
			now[nr_now++] = share;
	}
	done = gmt_shares_merge(analysis->heap, now, nr_now, &device->pinners) &&
	       gmt_shares_merge(analysis->heap, then, nr_then, &device->worst_pinners);
	free(now);
	return done;
}

static uint64_t pool_idle(const struct gmt_ledger *ledger, int32_t device)
{
	uint64_t idle = 0;

	for (const struct gmt_pool *pool = ledger->pools; pool; pool = pool->next)
		if (pool->device == device && pool->sample.valid &&
		    pool->sample.reserved_bytes > pool->sample.used_bytes)
			idle += pool->sample.reserved_bytes - pool->sample.used_bytes;
	return idle;
}

/*
 * The driver's figures are of the sample's instant, the last at which it was alive; the ledger's
 * are of the end. A free between the two makes unaccounted larger by its bytes.
 */
static void balance(const struct gmt_ledger *ledger, struct gmt_report_device *into)
{
	const struct gmt_device *device = into->device;
	struct gmt_report_balance *sums = &into->balance;

	if (!device->sample.valid)
		return;
	sums->valid = true;
	sums->time_ns = device->sample.time_ns;
	sums->driver_used = device->sample.total_bytes > device->sample.free_bytes
				    ? device->sample.total_bytes - device->sample.free_bytes
				    : 0;
	sums->tracked = device->scope.live_bytes;
	sums->rounding = device->pages.rounding_bytes;
	sums->pinned_pages = into->pinned_bytes;
	sums->pool_idle = pool_idle(ledger, into->ordinal);
	sums->unaccounted = (int64_t)(sums->driver_used - sums->tracked - sums->rounding -
				      sums->pinned_pages - sums->pool_idle);
}

bool gmt_analysis_devices(struct gmt_analysis *analysis)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	struct gmt_report *report = analysis->report;
	uint64_t *pages = gmt_heap_take(analysis->heap, ledger->nr_sites, sizeof(*pages));

	report->devices = gmt_heap_take(analysis->heap, GMT_MAX_DEVICES, sizeof(*report->devices));
	if (!pages || !report->devices || !count_pages(analysis, pages))
		return false;
	for (int32_t i = 0; i < GMT_MAX_DEVICES; i++) {
		const struct gmt_device *device = &ledger->devices[i];
		struct gmt_report_device *into = &report->devices[report->nr_devices];

		if (!device->seen)
			continue;
		report->nr_devices++;
		into->device = device;
		into->ordinal = i;
		into->small_page_bytes = device->pages.small_pages << GMT_PAGE_SHIFT;
		if (into->small_page_bytes > device->pages.small_bytes)
			into->pinned_bytes = into->small_page_bytes - device->pages.small_bytes;
		balance(ledger, into);
		if (!find_pinners(analysis, pages, into))
			return false;
	}
	return true;
}
