/*
 * The re-entrancy guard: one depth per thread, around our own bookkeeping alone, never around a
 * driver call (a callback may allocate legally inside one).
 *
 * Our static TLS is this and a few words in wrap_context.c and lookup.c: under 64 bytes, since
 * libraries that are opened later share a small reserve of it.
 *
 * Locks, innermost last; none is held across a driver call, an unwind, malloc or dlopen:
 *   stack.c's table  >  record.c's ledger
 */
#ifndef GMT_PRELOAD_GUARD_H
#define GMT_PRELOAD_GUARD_H

#include <stdbool.h>

#define GMT_TLS __thread __attribute__((tls_model("initial-exec")))

extern GMT_TLS __attribute__((visibility("hidden"))) int gmt_guard_depth;

/* False: this thread is inside our bookkeeping already; the caller must do nothing but count. */
static inline bool gmt_guard_enter(void)
{
	if (gmt_guard_depth)
		return false;
	gmt_guard_depth = 1;
	return true;
}

static inline void gmt_guard_leave(void)
{
	gmt_guard_depth = 0;
}

#endif
