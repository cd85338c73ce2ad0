/*
 * Verifying a stack is cheaper than unwinding it. A learned stack is the places of its return
 * addresses and what stood there; if all of them still hold the same values, it is the same stack:
 * each frame's layout follows from its return address, so the first place decides the second, and
 * so on outwards. (A frame of variable size between two equal inner frames could deceive it, if
 * the old return address lay untouched in its unused part.)
 *
 * Only stacks that come again and again at one place are learned, since learning is some 10 us.
 * Any thread; a look-up takes no lock. Entries never change and are never freed; their number is
 * bounded.
 */
#ifndef GMT_PRELOAD_STACK_CACHE_H
#define GMT_PRELOAD_STACK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* One frame: where its return address stands, and the address. */
struct gmt_return {
	const uintptr_t *place;
	uintptr_t address;
};

/* innermost: where the return address of the entry that was called stands. 0: not learned. */
uint32_t gmt_stack_cache_find(const uintptr_t *innermost);

/* Counts a stack that was unwound. True: it came often enough, learn it. */
bool gmt_stack_cache_ripe(const uintptr_t *innermost, uint32_t id);

/* returns[0].place is the innermost. */
void gmt_stack_cache_learn(uint32_t id, const struct gmt_return *returns, uint32_t count);

uint64_t gmt_stack_cache_bytes(void);

/* In a forked child: ids begin anew. */
void gmt_stack_cache_forked(void);

#endif
