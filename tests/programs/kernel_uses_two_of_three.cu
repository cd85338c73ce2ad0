/* case: a kernel is listed with the two blocks it was passed, not with the third */
#include <cuda_runtime.h>

#include "tests/programs/program.h"

__global__ void add_vectors(float *out, const float *in, int count)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < count)
		out[i] += in[i];
}

static float *make_input(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return (float *)memory;
}

static float *make_output(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return (float *)memory;
}

static float *make_unused(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return (float *)memory;
}

int main(void)
{
	float *in = make_input(4096), *out = make_output(8192);

	make_unused(16384);
	for (int i = 0; i < 3; i++)
		add_vectors<<<4, 256>>>(out, in, 1024);
	MUST(cudaGetLastError());
	MUST(cudaDeviceSynchronize());
	MUST(cudaFree(in));
	MUST(cudaFree(out));
	return 0;
}
