/* case: a failed gate turns status 0 into its own, and what stdout still held is written (GM72) */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 4));
	fputs("not yet flushed", stdout);
	return 0;
}
