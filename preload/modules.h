/*
 * Which loaded object holds an address. Filled by dl_iterate_phdr when a new stack is seen, so that
 * a plugin that is closed before the end still has its name. Called without any lock of ours held.
 */
#ifndef GMT_PRELOAD_MODULES_H
#define GMT_PRELOAD_MODULES_H

#include <stdint.h>

#include "preload/event.h"

/* Turns return addresses into frames. */
void gmt_modules_resolve(const uintptr_t *addresses, uint32_t count, struct gmt_frame *frames);

/* The path of the object that holds an address, or "" if it is not known. */
const char *gmt_modules_path(uintptr_t address);

/* The id of the object that holds an address, from 1, and the address in its file; 0: none. */
uint32_t gmt_modules_id(uintptr_t address, uint64_t *offset);

void gmt_modules_forked(void);

#endif
