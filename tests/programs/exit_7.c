/* case: a program's own exit status stays, also when a gate fails (GM72) */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 512));
	return 7;
}
