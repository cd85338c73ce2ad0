/* case: freeing three of four 512 KiB blocks gives no page back: the fourth pins each */
#include <cuda_runtime_api.h>

#include "program.h"

#define BLOCKS 64

static void *make_small(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 512 * KIB));
	return memory;
}

int main(void)
{
	void *blocks[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = make_small();
	for (int i = 0; i < BLOCKS; i++)
		if ((size_t)blocks[i] % (2 * MIB) != 0)
			MUST(cudaFree(blocks[i]));
	return 0;
}
