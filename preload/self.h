/* Whether an address lies in libgmtrace.so itself. Freestanding: the linker's own bounds. */
#ifndef GMT_PRELOAD_SELF_H
#define GMT_PRELOAD_SELF_H

#include <stdbool.h>
#include <stdint.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool gmt_is_self(uintptr_t address)
{
	return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

#endif
