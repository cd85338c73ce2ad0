/*
 * The ledger's account of virtual memory management: handles of physical memory, and the addresses
 * they are mapped at; reserved addresses are in ledger_space.c. Pure, like ledger.c.
 *
 *   handle's value ──► struct gmt_handle ◄── struct gmt_mapping ◄── first address
 *                        a block, counted         a block as well, so that
 *                        once                     pages.c finds it; not counted
 */
#include "preload/ledger_internal.h"

#include "preload/arena.h"
#include "preload/ledger_vmm.h"

struct gmt_handle {
	struct gmt_block
		block; /* first: found as one; its page_next and page_link are the list's */
	uint32_t references, releases, mappings;
	uint32_t claims; /* that hold it: it may be dead and come back */
	bool counted;	 /* live: in the sums and in the list */
	bool indexed;	 /* known by its value */
	uint64_t freed_ns;
};

struct gmt_mapping {
	struct gmt_block block;	   /* first: found as one */
	struct gmt_handle *handle; /* NULL: not known */
	struct gmt_mapping *next;  /* in a claim */
};

static struct gmt_handle *handle_of(const struct gmt_ledger *ledger, uint64_t value)
{
	struct gmt_block *block;

	HASH_FIND(hh, ledger->handles, &value, sizeof(value), block);
	return (struct gmt_handle *)block;
}

static bool index_handle(struct gmt_ledger *ledger, struct gmt_handle *handle)
{
	struct gmt_block *block = &handle->block;

	HASH_ADD(hh, ledger->handles, addr, sizeof(block->addr), block);
	handle->indexed = block->hh.tbl != NULL;
	return handle->indexed;
}

static void unindex_handle(struct gmt_ledger *ledger, struct gmt_handle *handle)
{
	struct gmt_block *block = &handle->block;

	if (handle->indexed)
		HASH_DELETE(hh, ledger->handles, block);
	handle->indexed = false;
}

static void list_handle(struct gmt_ledger *ledger, struct gmt_handle *handle)
{
	handle->block.page_next = NULL;
	handle->block.page_link = ledger->handle_list_end;
	*ledger->handle_list_end = &handle->block;
	ledger->handle_list_end = &handle->block.page_next;
	handle->counted = true;
}

static void unlist_handle(struct gmt_ledger *ledger, struct gmt_handle *handle)
{
	struct gmt_block *block = &handle->block;

	*block->page_link = block->page_next;
	if (block->page_next)
		block->page_next->page_link = block->page_link;
	else
		ledger->handle_list_end = block->page_link;
	handle->counted = false;
}

static void free_handle(struct gmt_ledger *ledger, struct gmt_handle *handle)
{
	struct gmt_claim uses = { .claimed = 1, .uses = handle->block.uses };

	gmt_ledger_freed(ledger, &uses);
	gmt_arena_free(ledger->arena, handle, sizeof(*handle));
}

/* After a change of references, mappings or claims: dies, comes back, or is given back. */
static void settle(struct gmt_ledger *ledger, struct gmt_handle *handle, uint64_t time_ns)
{
	bool live = handle->references || handle->mappings;

	if (handle->counted && !live) {
		gmt_ledger_leave(ledger, &handle->block, time_ns);
		handle->block.state = GMT_BLOCK_LIVE;
		unlist_handle(ledger, handle);
		unindex_handle(ledger, handle);
		handle->freed_ns = time_ns;
	} else if (!handle->counted && live) {
		gmt_ledger_come_back(ledger, &handle->block, handle->freed_ns);
		list_handle(ledger, handle);
		if (!handle_of(ledger, handle->block.addr))
			index_handle(ledger, handle);
	}
	if (!live && !handle->claims)
		free_handle(ledger, handle);
}

/* A value is given out again: what had it has lost its references, unseen, and may be mapped. */
static void take_value(struct gmt_ledger *ledger, uint64_t value, uint64_t time_ns)
{
	struct gmt_handle *handle = handle_of(ledger, value);

	if (!handle)
		return;
	unindex_handle(ledger, handle);
	handle->references = 0;
	settle(ledger, handle, time_ns);
}

static struct gmt_handle *new_handle(struct gmt_ledger *ledger, const struct gmt_event *event,
				     struct gmt_site *site, uint64_t seq)
{
	struct gmt_handle *handle = gmt_arena_zalloc(ledger->arena, sizeof(*handle));

	if (!handle)
		return NULL;
	gmt_ledger_fill_block(ledger, &handle->block, event, site, seq);
	handle->block.role = GMT_ROLE_HANDLE;
	if (index_handle(ledger, handle))
		return handle;
	gmt_arena_free(ledger->arena, handle, sizeof(*handle));
	return NULL;
}

bool gmt_ledger_handle_created(struct gmt_ledger *ledger, const struct gmt_event *event)
{
	struct gmt_handle *handle;
	struct gmt_site *site;

	take_value(ledger, event->addr, event->time_ns);
	site = gmt_ledger_site(ledger, event);
	if (!site)
		return false;
	handle = new_handle(ledger, event, site, ledger->next_seq);
	if (!handle)
		return false;
	handle->references = 1;
	gmt_ledger_enter(ledger, &handle->block, event);
	list_handle(ledger, handle);
	return true;
}

bool gmt_ledger_handle_retained(struct gmt_ledger *ledger, const struct gmt_event *event)
{
	struct gmt_handle *handle = handle_of(ledger, event->addr);

	if (!handle)
		return gmt_ledger_handle_created(ledger, event);
	handle->references++;
	return true;
}

/* Nobody says how large imported memory is, but it is no smaller than what is mapped of it. */
static void widen(struct gmt_ledger *ledger, struct gmt_handle *handle, uint64_t bytes,
		  uint64_t time_ns)
{
	struct gmt_block *block = &handle->block;

	if (block->site->kind != GMT_KIND_IMPORTED || bytes <= block->bytes)
		return;
	gmt_ledger_count_out(ledger, block, time_ns);
	block->site->total_bytes += bytes - block->bytes;
	block->bytes = bytes;
	gmt_ledger_count_in(ledger, block, time_ns);
}

struct gmt_block *gmt_ledger_mapped_block(struct gmt_block *mapping)
{
	return &((struct gmt_mapping *)mapping)->handle->block;
}

static struct gmt_mapping *mapping_at(const struct gmt_ledger *ledger, uint64_t addr)
{
	struct gmt_block *block;

	HASH_FIND(hh, ledger->mappings, &addr, sizeof(addr), block);
	return (struct gmt_mapping *)block;
}

static bool add_mapping(struct gmt_ledger *ledger, struct gmt_mapping *mapping)
{
	struct gmt_block *block = &mapping->block;

	HASH_ADD(hh, ledger->mappings, addr, sizeof(block->addr), block);
	if (!block->hh.tbl)
		return false;
	ledger->vmm.mappings++;
	ledger->vmm.mapped_bytes += block->bytes;
	if (!mapping->handle)
		return true;
	mapping->handle->mappings++;
	/* If this fails, a kernel's arguments are not taken for it; all else holds. */
	block->site = mapping->handle->block.site;
	gmt_pages_insert(ledger->pages, block);
	return true;
}

static void remove_mapping(struct gmt_ledger *ledger, struct gmt_mapping *mapping)
{
	struct gmt_block *block = &mapping->block;

	gmt_pages_remove(ledger->pages, block);
	HASH_DELETE(hh, ledger->mappings, block);
	ledger->vmm.mappings--;
	ledger->vmm.mapped_bytes -= block->bytes;
	if (mapping->handle)
		mapping->handle->mappings--;
}

static void claim_mapping(struct gmt_ledger *ledger, struct gmt_mapping *mapping, uint64_t time_ns,
			  struct gmt_vmm_claim *claim)
{
	remove_mapping(ledger, mapping);
	mapping->next = claim->mappings;
	claim->mappings = mapping;
	if (!mapping->handle)
		return;
	mapping->handle->claims++;
	settle(ledger, mapping->handle, time_ns);
}

bool gmt_ledger_map(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint64_t offset,
		    uint64_t value, uint64_t time_ns)
{
	struct gmt_handle *handle = handle_of(ledger, value);
	struct gmt_mapping *mapping = mapping_at(ledger, addr);
	struct gmt_vmm_claim unseen = { NULL, NULL, NULL };

	/* The unmapping of what was there went unseen. */
	if (mapping) {
		claim_mapping(ledger, mapping, time_ns, &unseen);
		gmt_ledger_vmm_done(ledger, &unseen);
		handle = handle_of(ledger, value);
	}
	mapping = gmt_arena_zalloc(ledger->arena, sizeof(*mapping));
	if (!mapping)
		return false;
	mapping->block.addr = addr;
	mapping->block.bytes = bytes;
	mapping->block.role = GMT_ROLE_MAPPING;
	mapping->handle = handle;
	if (!add_mapping(ledger, mapping)) {
		gmt_arena_free(ledger->arena, mapping, sizeof(*mapping));
		return false;
	}
	if (handle)
		widen(ledger, handle, offset + bytes, time_ns);
	return true;
}

void gmt_ledger_release(struct gmt_ledger *ledger, uint64_t value, uint64_t time_ns,
			struct gmt_vmm_claim *claim)
{
	struct gmt_handle *handle = handle_of(ledger, value);

	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
	/* Without references it is no handle any more: the driver will refuse. */
	if (!handle || !handle->references)
		return;
	claim->handle = handle;
	handle->claims++;
	handle->references--;
	handle->releases++;
	settle(ledger, handle, time_ns);
}

void gmt_ledger_unmap(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint64_t time_ns,
		      struct gmt_vmm_claim *claim)
{
	struct gmt_mapping *mapping;
	struct gmt_block *block, *next;
	uint64_t at = addr;

	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
	/* One behind the other, as a rule. */
	while (at - addr < bytes && (mapping = mapping_at(ledger, at)) &&
	       mapping->block.bytes <= bytes - (at - addr) && mapping->block.bytes) {
		at += mapping->block.bytes;
		claim_mapping(ledger, mapping, time_ns, claim);
	}
	if (at - addr >= bytes)
		return;
	/* There is a hole; what lies behind it is found by looking at all. */
	HASH_ITER (hh, ledger->mappings, block, next)
		if (block->addr >= at && block->addr - addr < bytes &&
		    block->bytes <= bytes - (block->addr - addr))
			claim_mapping(ledger, (struct gmt_mapping *)block, time_ns, claim);
}

/* A claim lets go of a handle. */
static void unclaim(struct gmt_ledger *ledger, struct gmt_handle *handle)
{
	if (!handle)
		return;
	handle->claims--;
	settle(ledger, handle, handle->freed_ns);
}

void gmt_ledger_vmm_done(struct gmt_ledger *ledger, struct gmt_vmm_claim *claim)
{
	while (claim->mappings) {
		struct gmt_mapping *mapping = claim->mappings;

		claim->mappings = mapping->next;
		unclaim(ledger, mapping->handle);
		gmt_arena_free(ledger->arena, mapping, sizeof(*mapping));
	}
	gmt_ledger_reservation_done(ledger, claim->reservation);
	unclaim(ledger, claim->handle);
	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
}

/* What the driver refuses because it shuts down, goes then: not a leak. */
static void note_teardown(struct gmt_handle *handle, enum gmt_block_state state)
{
	if (handle && state == GMT_BLOCK_TEARDOWN && handle->block.state != GMT_BLOCK_TEARDOWN)
		gmt_ledger_set_state(&handle->block, state);
}

static void give_back_mapping(struct gmt_ledger *ledger, struct gmt_mapping *mapping,
			      enum gmt_block_state state)
{
	struct gmt_handle *handle = mapping->handle;

	if (mapping_at(ledger, mapping->block.addr) || !add_mapping(ledger, mapping)) {
		gmt_arena_free(ledger->arena, mapping, sizeof(*mapping));
		unclaim(ledger, handle);
		return;
	}
	unclaim(ledger, handle);
	if (handle && !handle->references)
		note_teardown(handle, state);
}

void gmt_ledger_vmm_refused(struct gmt_ledger *ledger, struct gmt_vmm_claim *claim,
			    enum gmt_block_state state)
{
	struct gmt_handle *handle = claim->handle;

	while (claim->mappings) {
		struct gmt_mapping *mapping = claim->mappings;

		claim->mappings = mapping->next;
		give_back_mapping(ledger, mapping, state);
	}
	gmt_ledger_reservation_back(ledger, claim->reservation);
	if (handle) {
		handle->references++;
		handle->releases--;
		unclaim(ledger, handle);
		note_teardown(handle, state);
	}
	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
}

void gmt_ledger_show_handle(const struct gmt_block *block, struct gmt_handle_view *view)
{
	const struct gmt_handle *handle = (const struct gmt_handle *)block;

	view->references = handle->references;
	view->releases = handle->releases;
	view->mappings = handle->mappings;
	if (!handle->references)
		view->state = GMT_HANDLE_RELEASED_MAPPED;
	else if (handle->releases)
		view->state = GMT_HANDLE_RETAINED;
	else
		view->state = handle->mappings ? GMT_HANDLE_UNRELEASED_MAPPED
					       : GMT_HANDLE_UNRELEASED_UNMAPPED;
}

bool gmt_ledger_put_handle(struct gmt_ledger *ledger, const struct gmt_event *event, uint32_t site,
			   uint64_t seq, enum gmt_block_state state,
			   const struct gmt_handle_view *view)
{
	struct gmt_handle *handle;

	if (site == 0 || site > ledger->nr_sites || (!view->references && !view->mappings) ||
	    (ledger->sites[site - 1]->kind != GMT_KIND_VMM &&
	     ledger->sites[site - 1]->kind != GMT_KIND_IMPORTED))
		return false;
	handle = new_handle(ledger, event, ledger->sites[site - 1], seq);
	if (!handle)
		return false;
	/* The site's row counts it already. */
	handle->block.state = (uint16_t)state;
	handle->references = view->references;
	handle->releases = view->releases;
	handle->mappings = view->mappings;
	list_handle(ledger, handle);
	return true;
}
