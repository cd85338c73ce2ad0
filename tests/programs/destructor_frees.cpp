/* case: what the destructor of a global object frees, after main and exit handlers, is no leak */
#include <cuda_runtime_api.h>

#include "program.h"

/*
 * The object makes the first call of CUDA, so that the runtime is closed after its destructor. Of
 * an older object the runtime (cudart 13.0) refuses the free without telling the driver: that
 * memory is never freed, and destructor_too_late.cpp has it as a leak.
 */
struct Cache {
	void *memory;

	Cache()
	{
		MUST(cudaMalloc(&memory, 70000));
	}

	~Cache()
	{
		MUST(cudaFree(memory));
	}
};

static Cache cache;

int main()
{
	return 0;
}
