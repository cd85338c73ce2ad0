/*
 * Own memory, from mmap: the tracer never calls the program's malloc while it records.
 *
 * A bump allocator over chunks, with free lists by size class (powers of two and their halves).
 * Not thread-safe: an arena belongs to whoever holds the lock of what lives in it.
 */
#ifndef GMT_PRELOAD_ARENA_H
#define GMT_PRELOAD_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct gmt_arena;

/* NULL: no memory. The arena lives in its own first chunk. */
struct gmt_arena *gmt_arena_new(void);

/* Gives back every chunk, and with them all that was allocated. */
void gmt_arena_destroy(struct gmt_arena *arena);

/* 16-byte aligned, not cleared. NULL: no memory. */
void *gmt_arena_alloc(struct gmt_arena *arena, size_t bytes);
void *gmt_arena_zalloc(struct gmt_arena *arena, size_t bytes);

/* bytes is the size that was asked for. */
void gmt_arena_free(struct gmt_arena *arena, void *memory, size_t bytes);

/* Bytes taken from the system. */
uint64_t gmt_arena_bytes(const struct gmt_arena *arena);

/* Bytes of them that were ever handed out: the rest was never touched and is not resident. */
uint64_t gmt_arena_used(const struct gmt_arena *arena);

#endif
