/*
 * Nanoseconds since the process's start. Any thread; never goes back on one thread. Reads the
 * processor's counter where it is invariant and the kernel itself trusts it: clock_gettime costs
 * two to three times as much, twice per allocated and freed block.
 */
#ifndef GMT_PRELOAD_CLOCK_H
#define GMT_PRELOAD_CLOCK_H

#include <stdint.h>

uint64_t gmt_now_ns(void);

/* CLOCK_REALTIME at the start. */
uint64_t gmt_start_unix_ns(void);

/* Looks whether the counter may be used. Once, when the process first uses CUDA. */
void gmt_clock_start(void);

/* In a forked child: time begins anew. */
void gmt_clock_forked(void);

#endif
