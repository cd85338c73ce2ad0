/* case: C++ exceptions find their handlers under the tracer, and unwinding frees what it should */
#include <stdexcept>

#include <cuda_runtime_api.h>

#include "program.h"

struct Buffer {
	void *memory;

	explicit Buffer(size_t bytes)
	{
		MUST(cudaMalloc(&memory, bytes));
	}

	~Buffer()
	{
		cudaFree(memory);
	}
};

static void train()
{
	Buffer buffer(9000);
	void *forgotten;

	MUST(cudaMalloc(&forgotten, 600));
	throw std::runtime_error("diverged");
}

int main()
{
	try {
		train();
	} catch (const std::exception &error) {
		printf("%s\n", error.what());
	}
	return 0;
}
