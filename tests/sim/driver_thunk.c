/*
 * Thunks: what cuGetProcAddress hands out when GMTSIM_THUNKS is set. Each is an address of its own
 * that jumps to the entry, so that nobody can tell by the pointer which entry it is.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"

#include "driver_lookup.h"

#define THUNK_BYTES 16

static unsigned char *thunks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void write_thunk(unsigned char *at, const void *address)
{
#if defined(__x86_64__)
	static const unsigned char jump[] = { 0xff, 0x25, 0x02, 0, 0, 0, 0x66, 0x90 };
#elif defined(__aarch64__)
	static const unsigned char jump[] = { 0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6 };
#endif

	/* Jumps to the address that stands behind it. */
	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &address, sizeof(address));
}

static void write_thunks(void)
{
	size_t bytes = (size_t)sim_nr_lookups * THUNK_BYTES;

	thunks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thunks == MAP_FAILED)
		abort();
	for (unsigned int i = 0; i < sim_nr_lookups; i++)
		write_thunk(thunks + (size_t)i * THUNK_BYTES, sim_lookups[i].address);
	if (mprotect(thunks, bytes, PROT_READ | PROT_EXEC) != 0)
		abort();
}

void *sim_thunk(unsigned int row)
{
	pthread_once(&once, write_thunks);
	return thunks + (size_t)row * THUNK_BYTES;
}
