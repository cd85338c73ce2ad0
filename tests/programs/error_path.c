/* case: a function that returns early without freeing leaks on that path alone */
#include <cuda_runtime_api.h>

#include "program.h"

static int process(int length)
{
	void *input, *output;

	MUST(cudaMalloc(&input, 10000));
	MUST(cudaMalloc(&output, 20000));
	if (length < 0) {
		cudaFree(output);
		return -1;
	}
	cudaFree(output);
	cudaFree(input);
	return 0;
}

int main(void)
{
	EXPECT(process(1) == 0);
	EXPECT(process(-1) == -1);
	EXPECT(process(2) == 0);
	return 0;
}
