/* case: stacks that come again thousands of times at one place are never taken for one another */
#include <cuda_runtime_api.h>

#include "program.h"

#define TIMES 3000

static void *leaf(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

/* The two have the same frame: only the return addresses tell them apart. */
static void *left(size_t bytes)
{
	return leaf(bytes);
}

static void *right(size_t bytes)
{
	return leaf(bytes);
}

/* At each depth the inner frames lie elsewhere, and every other time the call goes another way. */
static void *deep(int depth, int way, size_t bytes)
{
	if (depth > 0)
		return deep(depth - 1, way, bytes);
	return way ? left(bytes) : right(bytes);
}

int main(void)
{
	for (int i = 0; i < TIMES; i++) {
		MUST(cudaFree(left(64)));
		MUST(cudaFree(right(64)));
		MUST(cudaFree(deep(i % 7, i % 2, 64)));
	}
	left(3000);
	right(2000);
	right(2000);
	for (int i = 0; i < 100; i++)
		deep(3, 1, 100);
	deep(3, 0, 700);
	return 0;
}
