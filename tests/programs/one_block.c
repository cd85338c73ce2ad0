/* case: a block that is never freed is reported once, under the function that made it */
#include <cuda_runtime_api.h>

#include "program.h"

static void *make_weights(void)
{
	void *weights;

	MUST(cudaMalloc(&weights, 4096));
	return weights;
}

int main(void)
{
	make_weights();
	return 0;
}
