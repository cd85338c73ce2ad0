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
struct gmt_page_totals;

struct gmt_pages *gmt_pages_new(struct gmt_arena *arena);

/* False: no memory, and nothing was changed: the block can't be found by an inner address. */
bool gmt_pages_insert(struct gmt_pages *pages, struct gmt_block *block);
void gmt_pages_remove(struct gmt_pages *pages, struct gmt_block *block);

struct gmt_block *gmt_pages_find(const struct gmt_pages *pages, uint64_t addr);

/* Number of small blocks in the page that holds addr. */
uint32_t gmt_pages_small_in(const struct gmt_pages *pages, uint64_t addr);

#endif
