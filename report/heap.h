/*
 * Memory of one report: taken from malloc in chunks, given back all at once. Not thread-safe.
 *
 * A failure sticks: whoever builds a part checks gmt_heap_failed once at its end, and a NULL is
 * never written through.
 */
#ifndef GMT_REPORT_HEAP_H
#define GMT_REPORT_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct gmt_heap;

struct gmt_heap *gmt_heap_new(void);
void gmt_heap_free(struct gmt_heap *heap);

/* Cleared, 16-byte aligned, never NULL for count 0. NULL: no memory, or count x bytes overflows. */
void *gmt_heap_take(struct gmt_heap *heap, size_t count, size_t bytes);

/* A copy of the first bytes of text, terminated. */
char *gmt_heap_copy(struct gmt_heap *heap, const char *text, size_t bytes);

bool gmt_heap_failed(const struct gmt_heap *heap);

#endif
