/*
 * The ways into the driver: the dlsym filter and cuGetProcAddress. Freestanding (see lookup.c).
 * What was looked up and not hooked, and where CUDA runtimes were seen, is read at the end.
 */
#ifndef GMT_PRELOAD_LOOKUP_H
#define GMT_PRELOAD_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

/* Called by the trampoline with the return address of dlsym's caller. NULL: go to the real dlsym.
 */
void *gmt_lookup_dlsym(void *handle, const char *name, uintptr_t caller);

/* Called by the trampoline: the flags that the real dlopen gets. */
int gmt_lookup_dlopen(const char *path, int flags);

/* Whether RTLD_DEEPBIND is left as the program asks (option deepbind). */
void gmt_lookup_keep_deepbind(bool keep);

/* Names passed through, NULL past the last one; may hold a name twice. */
const char *gmt_lookup_passed(unsigned int index);

/* This thread calls cuInit: a CUDA runtime that asked for its entries has them all. */
void gmt_lookup_initialized(void);

/* An address inside each CUDA runtime that looked its entries up, 0 past the last one. */
uintptr_t gmt_lookup_runtime(unsigned int index);

#endif
