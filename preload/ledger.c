/*
 * Owns live blocks, sites and pools. Pure (see ledger.h). The sums are in ledger_account.c, the
 * facts that change no sum in ledger_facts.c, the kernels in ledger_kernels.c.
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

struct gmt_ledger *gmt_ledger_new(struct gmt_arena *arena)
{
	struct gmt_ledger *ledger = gmt_arena_zalloc(arena, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->arena = arena;
	ledger->reclaimed_end = &ledger->reclaimed;
	ledger->handle_list_end = &ledger->handle_list;
	ledger->pages = gmt_pages_new(arena);
	ledger->recent = gmt_arena_zalloc(arena, GMT_RECENT_FREES * sizeof(*ledger->recent));
	ledger->process.rank = -1;
	ledger->settings.max_peak = UINT64_MAX;
	return ledger->pages && ledger->recent ? ledger : NULL;
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

struct gmt_site *gmt_ledger_site(struct gmt_ledger *ledger, const struct gmt_event *event)
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

static struct gmt_block *find_base(const struct gmt_ledger *ledger, uint64_t addr)
{
	struct gmt_block *block;

	HASH_FIND(hh, ledger->blocks, &addr, sizeof(addr), block);
	return block;
}

void gmt_ledger_fill_block(struct gmt_ledger *ledger, struct gmt_block *block,
			   const struct gmt_event *event, struct gmt_site *site, uint64_t seq)
{
	block->addr = event->addr;
	block->bytes = event->bytes;
	block->time_ns = event->time_ns;
	block->seq = seq;
	block->site = site;
	block->route = event->route;
	block->context = event->context;
	if (site->kind == GMT_KIND_POOL)
		block->pool = gmt_ledger_pool(ledger, event->pool, event->device);
}

static struct gmt_block *new_block(struct gmt_ledger *ledger, const struct gmt_event *event,
				   struct gmt_site *site, uint64_t seq)
{
	struct gmt_block *block = gmt_arena_zalloc(ledger->arena, sizeof(*block));

	if (block)
		gmt_ledger_fill_block(ledger, block, event, site, seq);
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

void gmt_ledger_enter(struct gmt_ledger *ledger, struct gmt_block *block,
		      const struct gmt_event *event)
{
	struct gmt_site *site = block->site;

	ledger->next_seq++;
	site->allocations++;
	site->total_bytes += event->bytes;
	site->last_time_ns = event->time_ns;
	ledger->kinds[event->kind].allocations++;
	ledger->routes[event->route]++;
	gmt_ledger_count_in(ledger, block, event->time_ns);
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
	site = gmt_ledger_site(ledger, event);
	if (!site)
		return false;
	block = add_block(ledger, event, site, ledger->next_seq);
	if (!block)
		return false;
	gmt_ledger_enter(ledger, block, event);
	return true;
}

void gmt_ledger_leave(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns)
{
	gmt_ledger_count_out(ledger, block, time_ns);
	if (block->state == GMT_BLOCK_TEARDOWN) {
		block->site->teardown_bytes -= block->bytes;
		block->site->teardown_blocks--;
	}
	block->site->frees++;
	block->site->lifetimes[lifetime_bucket(block, time_ns)]++;
	ledger->kinds[block->site->kind].frees++;
}

void gmt_ledger_come_back(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t freed_ns)
{
	block->site->frees--;
	block->site->lifetimes[lifetime_bucket(block, freed_ns)]--;
	ledger->kinds[block->site->kind].frees--;
	gmt_ledger_count_in(ledger, block, freed_ns);
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
	gmt_ledger_leave(ledger, block, time_ns);
	gmt_ledger_note_freed(ledger, block);
	HASH_DELETE(hh, ledger->blocks, block);
	gmt_arena_free(ledger->arena, block, sizeof(*block));
	return true;
}

void gmt_ledger_set_state(struct gmt_block *block, enum gmt_block_state state)
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
	struct gmt_block *block;

	if (!claim->claimed)
		return true;
	block = add_block(ledger, &claim->event, ledger->sites[claim->site - 1], claim->seq);
	if (!block)
		return false;
	block->uses = claim->uses;
	gmt_ledger_set_state(block, state);
	gmt_ledger_come_back(ledger, block, claim->freed_ns);
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

	HASH_ITER (hh, ledger->blocks, block, next) {
		if (block->context != context || !goes_with_context(block->site->kind))
			continue;
		gmt_ledger_count_out(ledger, block, time_ns);
		HASH_DELETE(hh, ledger->blocks, block);
		gmt_ledger_note_freed(ledger, block);
		block->site->reset_bytes += block->bytes;
		block->site->reset_blocks++;
		put_reclaimed(ledger, block);
		count++;
	}
	return count;
}

struct gmt_block *gmt_ledger_find(const struct gmt_ledger *ledger, uint64_t addr)
{
	struct gmt_block *block = gmt_pages_find(ledger->pages, addr);

	return block && block->role == GMT_ROLE_MAPPING ? gmt_ledger_mapped_block(block) : block;
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

	if (block->role == GMT_ROLE_HANDLE)
		gmt_ledger_show_handle(block, &view.handle);
	return visit(&view, data);
}

void gmt_ledger_each_block(const struct gmt_ledger *ledger,
			   bool (*visit)(const struct gmt_block_view *block, void *data),
			   void *data)
{
	for (struct gmt_block *block = ledger->blocks; block; block = block->hh.next)
		if (!show(block, visit, data))
			return;
	for (struct gmt_block *block = ledger->handle_list; block; block = block->page_next)
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
			  uint64_t time_ns, uint64_t seq, uint64_t pool, enum gmt_block_state state)
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
