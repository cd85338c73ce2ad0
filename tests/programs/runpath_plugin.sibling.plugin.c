/* The plugin's sibling of runpath_plugin.c. */
#include <cuda_runtime_api.h>

#include "program.h"

void sibling_work(void);

void sibling_work(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 3 * MIB));
}
