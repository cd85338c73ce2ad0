/* The plugin of plugin_leaks.c. */
#include <cuda_runtime_api.h>

#include "program.h"

void plug_work(void);

static void plug_leak(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 6 * MIB));
}

void plug_work(void)
{
	plug_leak();
}
