/* case: a free that is none is told with what it was and where the memory came from; nothing
 * changes */
#include <cuda_runtime_api.h>

#include "program.h"

static char *make(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

static void twice(void)
{
	char *memory = make(3 * MIB);

	MUST(cudaFree(memory));
	EXPECT(cudaFree(memory) != cudaSuccess);
	EXPECT(cudaFree(memory) != cudaSuccess);
}

static void inside(void)
{
	char *memory = make(4 * MIB);

	EXPECT(cudaFree(memory + 256) != cudaSuccess);
	MUST(cudaFree(memory));
}

static void other_family(void)
{
	char *memory = make(5 * MIB);

	EXPECT(cudaFreeHost(memory) != cudaSuccess);
	MUST(cudaFree(memory));
}

static void unknown(void)
{
	EXPECT(cudaFree((void *)0x5000000000) != cudaSuccess);
}

int main(void)
{
	twice();
	inside();
	other_family();
	unknown();
	MUST(cudaFree(NULL));
	MUST(cudaGetLastError() != cudaSuccess ? 0 : 1);
	return 0;
}
