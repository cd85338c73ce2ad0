/* case: stack_depth counts the program's frames: those of the runtime are not among them */
#include <cuda_runtime_api.h>

#include "program.h"

static void inner(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 640));
}

static void middle(void)
{
	inner();
}

int main(void)
{
	middle();
	return 0;
}
