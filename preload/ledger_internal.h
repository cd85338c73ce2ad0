/* What ledger.c and its parts (ledger_facts.c, ledger_kernels.c) share; included by nobody else. */
#ifndef GMT_PRELOAD_LEDGER_INTERNAL_H
#define GMT_PRELOAD_LEDGER_INTERNAL_H

#include <string.h>

#include "preload/ledger.h"

/*
 * Keys are a few aligned words: multiply and fold, which spreads addresses that differ in their
 * middle bits only, in a few cycles. Memory comes from the arena of the ledger in scope.
 */
static inline unsigned int gmt_hash_words(const void *key, size_t bytes)
{
	uint64_t hash = 0;
	uint32_t word;

	/* Copied, since the key was stored as another type. */
	for (size_t at = 0; at < bytes; at += sizeof(word)) {
		memcpy(&word, (const char *)key + at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return (unsigned int)(hash >> 32);
}

#define HASH_FUNCTION(key, bytes, hashv) ((hashv) = gmt_hash_words(key, bytes))
#define uthash_malloc(bytes)		 gmt_arena_alloc(ledger->arena, bytes)
#define uthash_free(memory, bytes)	 gmt_arena_free(ledger->arena, memory, bytes)

#include "preload/block.h"

bool gmt_ledger_push(struct gmt_ledger *ledger, void ***array, uint32_t *count, uint32_t *room,
		     void *item);
bool gmt_ledger_index_site(struct gmt_ledger *ledger, struct gmt_site *site);
struct gmt_pool *gmt_ledger_pool(struct gmt_ledger *ledger, uint64_t handle, int32_t device);

/* The site of an allocation, made if there is none; counts nothing. NULL: no memory. */
struct gmt_site *gmt_ledger_site(struct gmt_ledger *ledger, const struct gmt_event *event);
void gmt_ledger_fill_block(struct gmt_ledger *ledger, struct gmt_block *block,
			   const struct gmt_event *event, struct gmt_site *site, uint64_t seq);

/* A block that is indexed already enters every sum as allocated, leaves as freed, comes back. */
void gmt_ledger_enter(struct gmt_ledger *ledger, struct gmt_block *block,
		      const struct gmt_event *event);
void gmt_ledger_leave(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns);
void gmt_ledger_come_back(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t freed_ns);
void gmt_ledger_set_state(struct gmt_block *block, enum gmt_block_state state);

/* For ledger.c: the handle whose memory a mapping shows; a handle's figures. */
struct gmt_block *gmt_ledger_mapped_block(struct gmt_block *mapping);
void gmt_ledger_show_handle(const struct gmt_block *block, struct gmt_handle_view *view);

/* Of ledger_space.c: a claimed reservation is gone, or back. NULL: nothing. */
void gmt_ledger_reservation_done(struct gmt_ledger *ledger, struct gmt_reservation *reservation);
bool gmt_ledger_reservation_back(struct gmt_ledger *ledger, struct gmt_reservation *reservation);

/* For ledger_errors.c: the block is freed. */
void gmt_ledger_note_freed(struct gmt_ledger *ledger, const struct gmt_block *block);

/* Adds a block to every sum of live bytes, and takes it out again. */
void gmt_ledger_count_in(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns);
void gmt_ledger_count_out(struct gmt_ledger *ledger, struct gmt_block *block, uint64_t time_ns);

#endif
