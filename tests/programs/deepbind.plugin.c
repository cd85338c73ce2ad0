/* The plugin of deepbind.c: it carries its runtime, which finds the driver by dlsym. */
/* links: own runtime */
#include <cuda_runtime_api.h>

#include "program.h"

void plug_work(void);
int plug_is_simulated(void);

/* Of the simulated runtime's insides: NVIDIA's has none of that name. */
extern cudaError_t rt_load(void) __attribute__((weak));

int plug_is_simulated(void)
{
	return rt_load != NULL;
}

static void plug_leak(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 2 * MIB));
}

void plug_work(void)
{
	plug_leak();
}
