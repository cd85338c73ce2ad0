/*
 * Call stacks as small ids. libunwind is opened when the process first uses CUDA, RTLD_LOCAL:
 * linked into a preload it would take over _Unwind_* and with it every C++ exception of the
 * program.
 */
#ifndef GMT_PRELOAD_STACK_H
#define GMT_PRELOAD_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Opens libunwind from the directory of libgmtrace.so, then by its SONAME. False: says why once. */
bool gmt_stack_start(const char *own_directory, unsigned int depth);

/*
 * The id of the caller's stack, from 1; 0: stacks are off, or it could not be captured. caller:
 * where the hook's return address stands, or NULL.
 */
uint32_t gmt_stack_capture(const uintptr_t *caller);

/* Host memory of the table. */
uint64_t gmt_stack_bytes(void);

/* In a forked child: starts empty. */
void gmt_stack_forked(void);

#endif
