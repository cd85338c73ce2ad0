/*
 * Owns memory taken by mmap. Runs on any thread, under the lock of what lives in the arena; must
 * not call malloc, and leaves errno alone but for mmap's.
 */
#define _GNU_SOURCE
#include "preload/arena.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_MIN  (UINT64_C(256) << 10)
#define CHUNK_MAX  (UINT64_C(64) << 20)
#define SMALL_MAX  256 /* sizes up to here are rounded to 16 */
#define NR_SMALL   (SMALL_MAX / 16)
#define NR_CLASSES (NR_SMALL + 2 * 56)

struct chunk {
	struct chunk *next;
	size_t bytes;
};

struct gmt_arena {
	struct chunk *chunks;
	char *bump, *end;
	uint64_t total;
	size_t next_chunk;
	void *free_lists[NR_CLASSES];
};

/* Multiples of 16 up to 256, then two per power of two: 384, 512, 768, … at most a third is slack.
 */
static unsigned int class_of(size_t bytes, size_t *rounded)
{
	unsigned int shift;
	size_t half;

	if (bytes <= SMALL_MAX) {
		unsigned int index = bytes ? (unsigned int)((bytes + 15) / 16 - 1) : 0;

		*rounded = (index + 1) * 16;
		return index;
	}
	shift = 63 - (unsigned int)__builtin_clzll(bytes - 1);
	half = (size_t)1 << shift;
	if (bytes <= half + half / 2) {
		*rounded = half + half / 2;
		return NR_SMALL + (shift - 8) * 2;
	}
	*rounded = half * 2;
	return NR_SMALL + (shift - 8) * 2 + 1;
}

static struct chunk *map_chunk(size_t bytes)
{
	struct chunk *chunk =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED)
		return NULL;
	chunk->bytes = bytes;
	return chunk;
}

struct gmt_arena *gmt_arena_new(void)
{
	struct chunk *chunk = map_chunk(CHUNK_MIN);
	struct gmt_arena *arena;

	if (!chunk)
		return NULL;
	arena = (struct gmt_arena *)(chunk + 1);
	arena->chunks = chunk;
	arena->bump = (char *)arena + ((sizeof(*arena) + 15) & ~(size_t)15);
	arena->end = (char *)chunk + chunk->bytes;
	arena->total = chunk->bytes;
	arena->next_chunk = CHUNK_MIN * 2;
	return arena;
}

void gmt_arena_destroy(struct gmt_arena *arena)
{
	struct chunk *chunk = arena ? arena->chunks : NULL;

	while (chunk) {
		struct chunk *next = chunk->next;

		munmap(chunk, chunk->bytes);
		chunk = next;
	}
}

static bool grow(struct gmt_arena *arena, size_t bytes)
{
	size_t want = arena->next_chunk;
	struct chunk *chunk;

	if (bytes > want - sizeof(*chunk))
		want = (bytes + sizeof(*chunk) + 4095) & ~(size_t)4095;
	chunk = map_chunk(want);
	if (!chunk)
		return false;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->total += want;
	arena->bump = (char *)(chunk + 1);
	arena->end = (char *)chunk + want;
	if (arena->next_chunk < CHUNK_MAX)
		arena->next_chunk *= 2;
	return true;
}

void *gmt_arena_alloc(struct gmt_arena *arena, size_t bytes)
{
	size_t rounded;
	unsigned int class;
	void *memory;

	if (bytes > SIZE_MAX / 4)
		return NULL;
	class = class_of(bytes, &rounded);
	if (arena->free_lists[class]) {
		memory = arena->free_lists[class];
		arena->free_lists[class] = *(void **)memory;
		return memory;
	}
	if ((size_t)(arena->end - arena->bump) < rounded && !grow(arena, rounded))
		return NULL;
	memory = arena->bump;
	arena->bump += rounded;
	return memory;
}

void *gmt_arena_zalloc(struct gmt_arena *arena, size_t bytes)
{
	void *memory = gmt_arena_alloc(arena, bytes);

	if (memory)
		memset(memory, 0, bytes);
	return memory;
}

void gmt_arena_free(struct gmt_arena *arena, void *memory, size_t bytes)
{
	size_t rounded;
	unsigned int class;

	if (!memory)
		return;
	class = class_of(bytes, &rounded);
	*(void **)memory = arena->free_lists[class];
	arena->free_lists[class] = memory;
}

uint64_t gmt_arena_bytes(const struct gmt_arena *arena)
{
	return arena->total;
}

uint64_t gmt_arena_used(const struct gmt_arena *arena)
{
	return arena->total - (uint64_t)(arena->end - arena->bump);
}
