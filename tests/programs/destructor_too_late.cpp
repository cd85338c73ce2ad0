/* case: a destructor that runs after the runtime was closed frees nothing: its block is a leak */
#include <cuda_runtime_api.h>

#include "program.h"

/* Older than the first CUDA call, so destroyed after the runtime, which answers 4 (unloading). */
struct Cache {
	void *memory = nullptr;

	~Cache()
	{
		if (cudaFree(memory) != cudaErrorCudartUnloading)
			abort();
	}
};

static Cache cache;

int main()
{
	MUST(cudaMalloc(&cache.memory, 70000));
	return 0;
}
