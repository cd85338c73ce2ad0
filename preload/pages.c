/*
 * Owns the radix of 2 MiB pages. Pure: called under the ledger's lock in the process, or by the
 * reader of a trace. Levels are never given back: their number is bounded by the addresses used.
 */
#include "preload/pages.h"

#include "preload/arena.h"
#include "preload/block.h"

#define LEVEL_BITS  9
#define LEVEL_SLOTS (1u << LEVEL_BITS)
#define NR_LEVELS   4
#define ADDR_BITS   (GMT_PAGE_SHIFT + LEVEL_BITS * NR_LEVELS) /* 57, as x86-64 and aarch64 have */

#define SLOT_SHIFT (GMT_PAGE_SHIFT - 5) /* GMT_PAGE_SLOTS is 2^5 */

struct level {
	uintptr_t slots[LEVEL_SLOTS];
};

struct gmt_pages {
	struct gmt_arena *arena;
	struct level root;
};

#define WHOLE ((uintptr_t)1) /* slot holds a block that covers the page, not a struct gmt_page */

struct gmt_pages *gmt_pages_new(struct gmt_arena *arena)
{
	struct gmt_pages *pages = gmt_arena_zalloc(arena, sizeof(*pages));

	if (pages)
		pages->arena = arena;
	return pages;
}

/* The slot of the page that holds addr. NULL: not made yet (make: no memory, or no such address).
 */
static uintptr_t *slot_of(const struct gmt_pages *pages, uint64_t addr, bool make)
{
	struct level *level = (struct level *)&pages->root;

	if (addr >> ADDR_BITS)
		return NULL;
	for (unsigned int depth = NR_LEVELS - 1; depth > 0; depth--) {
		unsigned int shift = GMT_PAGE_SHIFT + LEVEL_BITS * depth;
		uintptr_t *slot = &level->slots[(addr >> shift) & (LEVEL_SLOTS - 1)];

		if (!*slot) {
			if (!make)
				return NULL;
			*slot = (uintptr_t)gmt_arena_zalloc(pages->arena, sizeof(struct level));
			if (!*slot)
				return NULL;
		}
		level = (struct level *)*slot;
	}
	return &level->slots[(addr >> GMT_PAGE_SHIFT) & (LEVEL_SLOTS - 1)];
}

static struct gmt_page *page_of(uintptr_t slot)
{
	return slot & WHOLE ? NULL : (struct gmt_page *)slot;
}

static bool empty(const struct gmt_page *page)
{
	return !page->nr_blocks && !page->reaches;
}

static struct gmt_page *make_page(struct gmt_pages *pages, uint64_t addr)
{
	uintptr_t *slot = slot_of(pages, addr, true);

	/* A page that a block covers whole cannot hold another; the ledger has freed it by now. */
	if (!slot || *slot & WHOLE)
		return NULL;
	if (!*slot)
		*slot = (uintptr_t)gmt_arena_zalloc(pages->arena, sizeof(struct gmt_page));
	return page_of(*slot);
}

static uint64_t last_byte(const struct gmt_block *block)
{
	return block->addr + (block->bytes ? block->bytes - 1 : 0);
}

static unsigned int slot_in_page(uint64_t addr)
{
	return (addr >> SLOT_SHIFT) & (GMT_PAGE_SLOTS - 1);
}

/* An empty page makes room for a block that covers it whole. */
static void cover_whole(struct gmt_pages *pages, uintptr_t *slot, struct gmt_block *block)
{
	if (*slot)
		gmt_arena_free(pages->arena, page_of(*slot), sizeof(struct gmt_page));
	*slot = (uintptr_t)block | WHOLE;
}

/* Sets, or with block NULL clears, what the pages after the first know of a block. */
static bool cover(struct gmt_pages *pages, uint64_t first, uint64_t end, struct gmt_block *old,
		  struct gmt_block *block)
{
	for (uint64_t addr = (first & ~(GMT_PAGE_BYTES - 1)) + GMT_PAGE_BYTES; addr <= end;
	     addr += GMT_PAGE_BYTES) {
		bool whole = addr + GMT_PAGE_BYTES - 1 <= end;
		uintptr_t *slot = slot_of(pages, addr, block != NULL);
		struct gmt_page *page;

		if (!slot) {
			if (block)
				return false;
			continue;
		}
		if (whole && block && !(*slot & WHOLE) && (!*slot || empty(page_of(*slot)))) {
			cover_whole(pages, slot, block);
			continue;
		}
		if (*slot == ((uintptr_t)old | WHOLE)) {
			*slot = 0;
			continue;
		}
		page = block ? make_page(pages, addr) : page_of(*slot);
		if (!page) {
			if (block)
				return false;
			continue;
		}
		if (block)
			page->reaches = block;
		else if (page->reaches == old)
			page->reaches = NULL;
	}
	return true;
}

bool gmt_pages_insert(struct gmt_pages *pages, struct gmt_block *block)
{
	uint64_t end = last_byte(block);
	struct gmt_block **head;
	struct gmt_page *page;

	if (end < block->addr || end >> ADDR_BITS)
		return false;
	page = make_page(pages, block->addr);
	if (!page)
		return false;
	head = &page->begins[slot_in_page(block->addr)];
	block->page_next = *head;
	block->page_link = head;
	if (*head)
		(*head)->page_link = &block->page_next;
	*head = block;
	page->nr_blocks++;
	page->nr_small += gmt_block_is_small(block);
	block->page = page;
	if (!cover(pages, block->addr, end, NULL, block)) {
		gmt_pages_remove(pages, block);
		return false;
	}
	return true;
}

void gmt_pages_remove(struct gmt_pages *pages, struct gmt_block *block)
{
	if (!block->page)
		return;
	*block->page_link = block->page_next;
	if (block->page_next)
		block->page_next->page_link = block->page_link;
	/* An emptied page stays: the driver gives its addresses out again, often at once. */
	block->page->nr_blocks--;
	block->page->nr_small -= gmt_block_is_small(block);
	block->page = NULL;
	cover(pages, block->addr, last_byte(block), block, NULL);
}

static bool holds(const struct gmt_block *block, uint64_t addr)
{
	return addr >= block->addr && addr <= last_byte(block);
}

struct gmt_block *gmt_pages_find(const struct gmt_pages *pages, uint64_t addr)
{
	uintptr_t *slot = slot_of(pages, addr, false);
	struct gmt_page *page;

	if (!slot || !*slot)
		return NULL;
	if (*slot & WHOLE) {
		struct gmt_block *block = (struct gmt_block *)(*slot & ~WHOLE);

		return holds(block, addr) ? block : NULL;
	}
	page = page_of(*slot);
	if (page->reaches && holds(page->reaches, addr))
		return page->reaches;
	/* The block begins in this slot of the page or in an earlier one: small ones end soon. */
	for (int index = (int)slot_in_page(addr); index >= 0; index--) {
		for (struct gmt_block *block = page->begins[index]; block; block = block->page_next)
			if (holds(block, addr))
				return block;
	}
	return NULL;
}
