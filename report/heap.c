/* Owns the report's memory. */
#include "report/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)256 * 1024)
#define ALIGNMENT   ((size_t)16)

struct chunk {
	struct chunk *next;
	size_t room, used; /* of the bytes that follow */
};

struct gmt_heap {
	struct chunk *chunks;
	bool failed;
};

struct gmt_heap *gmt_heap_new(void)
{
	return calloc(1, sizeof(struct gmt_heap));
}

void gmt_heap_free(struct gmt_heap *heap)
{
	struct chunk *next;

	if (!heap)
		return;
	for (struct chunk *chunk = heap->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(heap);
}

static struct chunk *new_chunk(struct gmt_heap *heap, size_t bytes)
{
	size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	struct chunk *chunk = calloc(1, sizeof(*chunk) + ALIGNMENT + room);

	if (!chunk)
		return NULL;
	chunk->room = room;
	/* One that is filled at once goes behind the one that still has room. */
	if (heap->chunks && bytes > CHUNK_BYTES) {
		chunk->next = heap->chunks->next;
		heap->chunks->next = chunk;
	} else {
		chunk->next = heap->chunks;
		heap->chunks = chunk;
	}
	return chunk;
}

void *gmt_heap_take(struct gmt_heap *heap, size_t count, size_t bytes)
{
	struct chunk *chunk = heap->chunks;
	char *start;

	if (__builtin_mul_overflow(count, bytes, &bytes) || bytes > SIZE_MAX / 2) {
		heap->failed = true;
		return NULL;
	}
	bytes = (bytes + ALIGNMENT) & ~(ALIGNMENT - 1);
	if (!chunk || chunk->room - chunk->used < bytes)
		chunk = new_chunk(heap, bytes);
	if (!chunk) {
		heap->failed = true;
		return NULL;
	}
	start = (char *)(((size_t)(chunk + 1) + ALIGNMENT - 1) & ~(ALIGNMENT - 1));
	chunk->used += bytes;
	return start + chunk->used - bytes;
}

char *gmt_heap_copy(struct gmt_heap *heap, const char *text, size_t bytes)
{
	char *copy = gmt_heap_take(heap, bytes + 1, 1);

	if (copy)
		memcpy(copy, text, bytes);
	return copy;
}

bool gmt_heap_failed(const struct gmt_heap *heap)
{
	return heap->failed;
}
