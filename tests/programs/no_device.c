/* case: where no device is seen, the gate could not judge: status 24 and its reason (GM72) */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *memory;

	/* Whichever way the machine has none: the program goes on without. */
	if (cudaMalloc(&memory, 4) == cudaSuccess)
		return 1;
	return 0;
}
