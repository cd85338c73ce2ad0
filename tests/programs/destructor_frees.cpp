/* case: what the destructor of a global object frees is no leak */
#include <cuda_runtime_api.h>

#include "program.h"

struct Cache {
	void *memory = nullptr;

	void fill()
	{
		MUST(cudaMalloc(&memory, 70000));
	}

	~Cache()
	{
		cudaFree(memory);
	}
};

static Cache cache;

int main()
{
	cache.fill();
	return 0;
}
