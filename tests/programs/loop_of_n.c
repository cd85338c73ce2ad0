/* case: ten blocks from one line of a loop are one group, counted once each (GM64) */
#include <cuda_runtime_api.h>

#include "program.h"

static void load_layer(void)
{
	void *layer;

	MUST(cudaMalloc(&layer, 4 * MIB));
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		load_layer();
	return 0;
}
