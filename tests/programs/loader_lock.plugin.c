/* The library of loader_lock.c, with some of the loader's reserve of thread-local memory. */
#include <cuda_runtime_api.h>

#include "program.h"

static __thread char reserve[400] __attribute__((tls_model("initial-exec")));
static void *memory;

__attribute__((constructor)) static void open_library(void)
{
	reserve[0] = 1;
	MUST(cudaMalloc(&memory, 10000));
}

__attribute__((destructor)) static void close_library(void)
{
	MUST(cudaFree(memory));
}
