/*
 * Owns the account: live blocks, sites, peaks, pools. Pure (see ledger.h); the facts that do not
 * change the account are in ledger_facts.c, the kernels in ledger_kernels.c.
 */
#include "preload/ledger_internal.h"

#include <string.h>

#include "preload/arena.h"
#include "preload/pages.h"

struct gmt_site_key {
	struct {
		uint32_t stack;
		int32_t device;
		uint16_t api;
		uint16_t kind;
	} key;
	struct gmt_site *site;
	UT_hash_handle hh;
};

bool gmt_kind_on_device(enum gmt_kind kind)
{
	return kind == GMT_KIND_DEVICE || kind == GMT_KIND_POOL || kind == GMT_KIND_ARRAY ||
	       kind == GMT_KIND_VMM || kind == GMT_KIND_GRAPH;
}

struct gmt_ledger *gmt_ledger_new(struct gmt_arena *arena)
{
	struct gmt_ledger *ledger = gmt_arena_zalloc(arena, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->arena = arena;
	ledger->reclaimed_end = &ledger->reclaimed;
	ledger->pages = gmt_pages_new(arena);
	ledger->process.rank = -1;
	ledger->settings.max_peak = UINT64_MAX;
	return ledger->pages ? ledger : NULL;
}

bool gmt_ledger_push(struct gmt_ledger *ledger, void ***array, uint32_t *count, uint32_t *room,
		     void *item)
{
	if (*count == *room) {
		uint32_t wider = *room ? *room * 2 : 64;
		void **moved = gmt_arena_alloc(ledger->arena, wider * sizeof(void *));

		if (!moved)
			return false;
		if (*room)
			memcpy(moved, *array, *count * sizeof(void *));
		gmt_arena_free(ledger->arena, *array, *room * sizeof(void *));
		*array = moved;
		*room = wider;
	}
	(*array)[(*count)++] = item;
	return true;
}

static struct gmt_device *device_of(struct gmt_ledger *ledger, int32_t ordinal)
{
	return ordinal >= 0 && ordinal < GMT_MAX_DEVICES ? &ledger->devices[ordinal] : NULL;
}

/* Indexes a site by its key; the site's key fields are filled in. */
bool gmt_ledger_index_site(struct gmt_ledger *ledger, struct gmt_site *site)
{
	struct gmt_site_key *entry = gmt_arena_zalloc(ledger->arena, sizeof(*entry));

	if (!entry)
		return false;
	entry->key.stack = site->stack;
	entry->key.device = site->device;
	entry->key.api = site->api;
	entry->key.kind = site->kind;
	entry->site = site;
	HASH_ADD(hh, ledger->site_index, key, sizeof(entry->key), entry);
	return entry->hh.tbl != NULL;
}

static struct gmt_site *site_of(struct gmt_ledger *ledger, const struct gmt_event *event)
{
	struct gmt_site_key probe = {
		.key = { event->stack, event->device, event->api, event->kind },
	};
	struct gmt_site_key *found;
	struct gmt_site *site;

	HASH_FIND(hh, ledger->site_index, &probe.key, sizeof(probe.key), found);
	if (found)
		return found->site;
	site = gmt_arena_zalloc(ledger->arena, sizeof(*site));
	if (!site)
		return NULL;
	site->id = ledger->nr_sites + 1;
	site->stack = event->stack;
	site->api = event->api;
	site->kind = event->kind;
	site->device = event->device;
	site->first_time_ns = event->time_ns;
	if (!gmt_ledger_push(ledger, (void ***)&ledger->sites, &ledger->nr_sites,
			     &ledger->sites_room, site))
		return NULL;
	if (!gmt_ledger_index_site(ledger, site)) {
		ledger->nr_sites--;
		return NULL;
	}
	return site;
}

struct gmt_pool *gmt_ledger_pool(struct gmt_ledger *ledger, uint64_t handle, int32_t device)
{
	struct gmt_pool **link = &ledger->pools;

	while (*link && ((*link)->pool != handle || (*link)->device != device))
		link = &(*link)->next;
	if (!*link) {
		*link = gmt_arena_zalloc(ledger->arena, sizeof(**link));
		if (*link) {
			(*link)->pool = handle;
			(*link)->device = device;
		}
	}
	return *link;
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
	return moment == GMT_MOMENT_DEVICE_PEAK ? device->scope.generation :
						  device->pages.generation;
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
	if (!gmt_kind_on_device(site->kind))
		return (struct gmt_share){ 0, 0, 0 };
	if (site->at[moment].generation == generation_of(ledger, site, moment))
		return site->at[moment];
	return live_share(site, moment);
}

/* Before a site changes: keep what it had at each moment, unless that is already kept. */
static void keep_shares(struct gmt_ledger *ledger, struct gmt_site *site)
{
	if (!gmt_kind_on_device(site->kind))
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
	bool known = gmt_pages_insert(ledger->pages, block);

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
static void count_in(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
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
	if (!gmt_kind_on_device(site->kind))
		return;
	if (device) {
		device->seen = true;
		scope_add(&device->scope, block->bytes, time_ns);
	}
	scope_add(&ledger->process_scope, block->bytes, time_ns);
}

static void count_out(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
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
	if (!gmt_kind_on_device(site->kind))
		return;
	if (device)
		scope_take(&device->scope, block->bytes);
	scope_take(&ledger->process_scope, block->bytes);
}

static struct gmt_block *find_base(const struct gmt_ledger *ledger, uint64_t addr)
{
	struct gmt_block *block;

	HASH_FIND(hh, ledger->blocks, &addr, sizeof(addr), block);
	return block;
}

static struct gmt_block *new_block(struct gmt_ledger *ledger, const struct gmt_event *event,
				   struct gmt_site *site, uint64_t seq)
{
	struct gmt_block *block = gmt_arena_zalloc(ledger->arena, sizeof(*block));

	if (!block)
		return NULL;
	block->addr = event->addr;
	block->bytes = event->bytes;
	block->time_ns = event->time_ns;
	block->seq = seq;
	block->site = site;
	block->route = event->route;
	block->context = event->context;
	if (site->kind == GMT_KIND_POOL)
		block->pool = gmt_ledger_pool(ledger, event->pool, event->device);
	return block;
}

/* Makes a block and indexes it; the caller counts it in. NULL: no memory. */
static struct gmt_block *add_block(struct gmt_ledger *ledger, const struct gmt_event *event,
				   struct gmt_site *site, uint64_t seq)
{
	struct gmt_block *block = new_block(ledger, event, site, seq);

	if (!block)
		return NULL;
	HASH_ADD(hh, ledger->blocks, addr, sizeof(block->addr), block);
	if (block->hh.tbl)
		return block;
	gmt_arena_free(ledger->arena, block, sizeof(*block));
	return NULL;
}

static unsigned int lifetime_bucket(const struct gmt_block *block, uint64_t time_ns)
{
	uint64_t life = time_ns > block->time_ns ? time_ns - block->time_ns : 1;

	return 63 - (unsigned int)__builtin_clzll(life);
}

bool gmt_ledger_alloc(struct gmt_ledger *ledger, const struct gmt_event *event, bool *replaced)
{
	struct gmt_claim unseen;
	struct gmt_block *block;
	struct gmt_site *site;

	*replaced = gmt_ledger_free(ledger, event->addr, event->time_ns, &unseen);
	if (*replaced)
		gmt_ledger_freed(ledger, &unseen);
	if (event->kind >= GMT_NR_KINDS)
		return false;
	site = site_of(ledger, event);
	if (!site)
		return false;
	block = add_block(ledger, event, site, ledger->next_seq);
	if (!block)
		return false;
	ledger->next_seq++;
	site->allocations++;
	site->total_bytes += event->bytes;
	site->last_time_ns = event->time_ns;
	ledger->kinds[event->kind].allocations++;
	ledger->routes[event->route]++;
	count_in(ledger, block, event->time_ns);
	return true;
}

bool gmt_ledger_free(struct gmt_ledger *ledger, uint64_t addr, uint64_t time_ns,
		     struct gmt_claim *claim)
{
	struct gmt_block *block = find_base(ledger, addr);

	claim->claimed = 0;
	if (!block)
		return false;
	*claim = (struct gmt_claim){
		.event = {
			.addr = block->addr,
			.bytes = block->bytes,
			.time_ns = block->time_ns,
			.pool = block->pool ? block->pool->pool : 0,
			.stack = block->site->stack,
			.api = block->site->api,
			.kind = block->site->kind,
			.route = block->route,
			.device = block->site->device,
			.context = block->context,
		},
		.seq = block->seq,
		.freed_ns = time_ns,
		.site = block->site->id,
		.claimed = 1,
		.uses = block->uses,
	};
	count_out(ledger, block, time_ns);
	if (block->state == GMT_BLOCK_TEARDOWN) {
		block->site->teardown_bytes -= block->bytes;
		block->site->teardown_blocks--;
	}
	block->site->frees++;
	block->site->lifetimes[lifetime_bucket(block, time_ns)]++;
	ledger->kinds[block->site->kind].frees++;
	HASH_DELETE(hh, ledger->blocks, block);
	gmt_arena_free(ledger->arena, block, sizeof(*block));
	return true;
}

static void set_state(struct gmt_block *block, enum gmt_block_state state)
{
	block->state = (uint16_t)state;
	if (state != GMT_BLOCK_TEARDOWN)
		return;
	block->site->teardown_bytes += block->bytes;
	block->site->teardown_blocks++;
}

bool gmt_ledger_unfree(struct gmt_ledger *ledger, const struct gmt_claim *claim,
		       enum gmt_block_state state)
{
	struct gmt_site *site;
	struct gmt_block *block;

	if (!claim->claimed)
		return true;
	site = ledger->sites[claim->site - 1];
	block = add_block(ledger, &claim->event, site, claim->seq);
	if (!block)
		return false;
	block->uses = claim->uses;
	set_state(block, state);
	site->frees--;
	site->lifetimes[lifetime_bucket(block, claim->freed_ns)]--;
	ledger->kinds[site->kind].frees--;
	count_in(ledger, block, claim->freed_ns);
	return true;
}

static void put_reclaimed(struct gmt_ledger *ledger, struct gmt_block *block)
{
	block->state = GMT_BLOCK_RESET;
	block->page_next = NULL;
	*ledger->reclaimed_end = block;
	ledger->reclaimed_end = &block->page_next;
}

static bool goes_with_context(enum gmt_kind kind)
{
	return kind == GMT_KIND_DEVICE || kind == GMT_KIND_MANAGED || kind == GMT_KIND_PINNED ||
	       kind == GMT_KIND_ARRAY;
}

uint64_t gmt_ledger_reclaim(struct gmt_ledger *ledger, uint32_t context, uint64_t time_ns)
{
	struct gmt_block *block, *next;
	uint64_t count = 0;

	HASH_ITER(hh, ledger->blocks, block, next) {
		if (block->context != context || !goes_with_context(block->site->kind))
			continue;
		count_out(ledger, block, time_ns);
		HASH_DELETE(hh, ledger->blocks, block);
		block->site->reset_bytes += block->bytes;
		block->site->reset_blocks++;
		put_reclaimed(ledger, block);
		count++;
	}
	return count;
}

struct gmt_block *gmt_ledger_find(const struct gmt_ledger *ledger, uint64_t addr)
{
	return gmt_pages_find(ledger->pages, addr);
}

static bool show(const struct gmt_block *block,
		 bool (*visit)(const struct gmt_block_view *block, void *data), void *data)
{
	struct gmt_block_view view = {
		.addr = block->addr,
		.bytes = block->bytes,
		.time_ns = block->time_ns,
		.seq = block->seq,
		.site = block->site,
		.pool = block->pool ? block->pool->pool : 0,
		.state = block->state,
	};

	return visit(&view, data);
}

void gmt_ledger_each_block(const struct gmt_ledger *ledger,
			   bool (*visit)(const struct gmt_block_view *block, void *data), void *data)
{
	for (struct gmt_block *block = ledger->blocks; block; block = block->hh.next)
		if (!show(block, visit, data))
			return;
	for (struct gmt_block *block = ledger->reclaimed; block; block = block->page_next)
		if (!show(block, visit, data))
			return;
}

bool gmt_ledger_put_site(struct gmt_ledger *ledger, const struct gmt_site *row)
{
	struct gmt_site *site = gmt_arena_alloc(ledger->arena, sizeof(*site));

	if (!site)
		return false;
	*site = *row;
	site->id = ledger->nr_sites + 1;
	return gmt_ledger_push(ledger, (void ***)&ledger->sites, &ledger->nr_sites,
			       &ledger->sites_room, site) &&
	       gmt_ledger_index_site(ledger, site);
}

bool gmt_ledger_put_block(struct gmt_ledger *ledger, uint32_t site, uint64_t addr, uint64_t bytes,
			  uint64_t time_ns, uint64_t seq, uint64_t pool,
			  enum gmt_block_state state)
{
	struct gmt_event event = { .addr = addr, .bytes = bytes, .time_ns = time_ns, .pool = pool };
	struct gmt_block *block;

	if (site == 0 || site > ledger->nr_sites)
		return false;
	/* Of reclaimed blocks, many may have had one address. */
	if (state != GMT_BLOCK_RESET && find_base(ledger, addr))
		return false;
	event.device = ledger->sites[site - 1]->device;
	if (state == GMT_BLOCK_RESET) {
		block = new_block(ledger, &event, ledger->sites[site - 1], seq);
		if (block)
			put_reclaimed(ledger, block);
		return block != NULL;
	}
	block = add_block(ledger, &event, ledger->sites[site - 1], seq);
	if (!block)
		return false;
	/* The site's row counts its state already; pages serve the recorder's look-ups only. */
	block->state = (uint16_t)state;
	return true;
}
