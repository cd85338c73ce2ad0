/* case: a program that frees all it allocated is clean, with its peak */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *a, *b;

	MUST(cudaMalloc(&a, 1000));
	MUST(cudaMalloc(&b, 2000));
	MUST(cudaFree(a));
	MUST(cudaFree(b));
	return 0;
}
