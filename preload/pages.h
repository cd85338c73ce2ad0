/*
 * 2 MiB pages in a radix: which block holds this address, and how full each page is. Part of the
 * ledger's state, updated with it; same rules: pure, no lock, memory from the arena.
 *
 *   addr bits   56..48   47..39   38..30   29..21    a slot is NULL, a block that covers the whole
 *               root ──► level ──► level ──► slot     page (low bit set), or a struct gmt_page with
 *                                                     the blocks that begin in it
 */
#ifndef GMT_PRELOAD_PAGES_H
#define GMT_PRELOAD_PAGES_H

#include "preload/event.h"

struct gmt_arena;
struct gmt_block;
struct gmt_pages;

/* A page is cut in slots of 64 KiB, so that a look-up walks few of up to 4,096 blocks. */
#define GMT_PAGE_SLOTS 32

/* A page in which blocks begin. */
struct gmt_page {
	struct gmt_block *reaches; /* began in an earlier page and ends in this one */
	uint32_t nr_blocks;	   /* that begin here */
	uint32_t nr_small;	   /* of them, those that share the page */
	struct gmt_block *begins[GMT_PAGE_SLOTS];
};

struct gmt_pages *gmt_pages_new(struct gmt_arena *arena);

/* False: no memory, and nothing was changed: the block can't be found by an inner address. */
bool gmt_pages_insert(struct gmt_pages *pages, struct gmt_block *block);
void gmt_pages_remove(struct gmt_pages *pages, struct gmt_block *block);

struct gmt_block *gmt_pages_find(const struct gmt_pages *pages, uint64_t addr);

#endif
