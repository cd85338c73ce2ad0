/* case: the highest moment lies in the middle, and its bytes are those of that moment */
#include <cuda_runtime_api.h>

#include "program.h"

static void *site_a(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

static void *site_b(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

int main(void)
{
	void *a1, *a2, *b1, *b2;

	a1 = site_a(3000000);
	a2 = site_a(5000000);
	MUST(cudaFree(a1));
	/* The peak: 5,000,000 of site_a and 4,000,000 of site_b. */
	b1 = site_b(4000000);
	MUST(cudaFree(a2));
	b2 = site_b(2000000);
	MUST(cudaFree(b1));
	MUST(cudaFree(b2));
	return 0;
}
