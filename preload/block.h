/*
 * The live block as ledger.c and pages.c hold it; nobody else looks inside (the report has
 * struct gmt_block_view). 144 bytes, and a few of hash buckets.
 */
#ifndef GMT_PRELOAD_BLOCK_H
#define GMT_PRELOAD_BLOCK_H

/* A failed expansion or insertion is ours to count, never a reason to exit. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "preload/ledger.h"
#include "preload/pages.h"

/* What a struct gmt_block stands for; a handle and a mapping begin with one. */
enum gmt_block_role {
	GMT_ROLE_MEMORY,
	GMT_ROLE_HANDLE,  /* physical memory, known by its handle: it has no address of its own */
	GMT_ROLE_MAPPING, /* addresses at which a handle's memory is mapped; counted nowhere */
};

/* The kernels a block was passed to, newest first. */
struct gmt_use {
	uint32_t kernel;
	uint32_t reserved;
	struct gmt_use *next;
};

struct gmt_block {
	uint64_t addr, bytes, time_ns, seq;
	struct gmt_site *site;
	struct gmt_use *uses;
	struct gmt_page *page; /* the one it begins in; NULL: pages.c does not know it */
	struct gmt_block *page_next, **page_link; /* list of blocks that begin in a page's slot */
	struct gmt_pool *pool;			  /* NULL: none */
	uint16_t state;				  /* enum gmt_block_state */
	uint8_t route; /* as it was recorded, for a free that is given back */
	uint8_t role;  /* enum gmt_block_role */
	uint32_t context;
	UT_hash_handle hh;
};

/*
 * Whether it is found by the addresses inside of it; an array or a handle of physical memory is
 * known by its handle alone.
 */
static inline bool gmt_block_has_addresses(const struct gmt_block *block)
{
	return block->role != GMT_ROLE_HANDLE && block->site->kind != GMT_KIND_ARRAY;
}

/* Blocks of cudaMalloc up to 1 MiB share physical pages; the other kinds have pages of their own.
 */
static inline bool gmt_block_is_small(const struct gmt_block *block)
{
	return block->site->kind == GMT_KIND_DEVICE && block->bytes <= GMT_SMALL_MAX;
}

#endif
