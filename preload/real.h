/*
 * The real driver entries, from the libcuda.so.1 handle only: never RTLD_NEXT (the driver may be
 * in a local scope), never through our own dlsym.
 */
#ifndef GMT_PRELOAD_REAL_H
#define GMT_PRELOAD_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/apis.h"

typedef void *gmt_dlsym_fn(void *handle, const char *name);
typedef void *gmt_dlopen_fn(const char *path, int flags);

#define GMT_HIDDEN __attribute__((visibility("hidden")))

/* libc's own, for ourselves; set by gmt_real_bootstrap. */
extern GMT_HIDDEN gmt_dlsym_fn *gmt_real_dlsym;
extern GMT_HIDDEN gmt_dlopen_fn *gmt_real_dlopen;

/* What the trampolines jump to: another tool's that was preloaded after us, or libc's. */
extern GMT_HIDDEN gmt_dlsym_fn *gmt_next_dlsym;
extern GMT_HIDDEN gmt_dlopen_fn *gmt_next_dlopen;

/* Finds them. Any thread, any number of times; calls dlvsym and what it returned. */
void gmt_real_bootstrap(void);

/* libc's own definition, whatever tools are there; NULL: none. */
void *gmt_real_of_libc(const char *name);

/* The next definition after ours of one of libc's functions; NULL: none. */
void *gmt_real_next(const char *name);

/*
 * The real entry, or NULL: there is no libcuda.so.1, or it has no such symbol (an older driver).
 * id is an enum gmt_api, interposed or only used.
 */
void *gmt_real(unsigned int id);

/* The driver's handle. NULL: not loaded, and, with load, cannot be loaded. */
void *gmt_real_driver(bool load);

/* Whether an address lies in the mapped image of the driver. */
bool gmt_real_in_driver(uintptr_t address);

/*
 * Whether an address lies in CUPTI or another of the driver's companions (libcupti, libnvidia-*),
 * which call the driver for themselves. Needs glibc 2.35 to answer; before that: no.
 */
bool gmt_real_is_vendor_tool(uintptr_t address);

const char *gmt_real_name(unsigned int id);

#endif
