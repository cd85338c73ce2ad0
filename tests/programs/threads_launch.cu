/* case: launches of eight threads are all counted, each with the blocks of its thread */
/* threads */
#include <pthread.h>

#include <cuda_runtime.h>

#include "tests/programs/program.h"

#define THREADS	 8
#define LAUNCHES 200

__global__ void fill(int *out, int value)
{
	*out = value;
}

static pthread_barrier_t barrier;

static void *work(void *data)
{
	cudaStream_t stream;
	void *memory;

	MUST(cudaStreamCreate(&stream));
	MUST(cudaMalloc(&memory, 1000));
	(void)data;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < LAUNCHES; i++)
		fill<<<1, 1, 0, stream>>>((int *)memory, i);
	MUST(cudaStreamSynchronize(stream));
	/* All streams and blocks live at once: the peak is exact. */
	pthread_barrier_wait(&barrier);
	MUST(cudaStreamDestroy(stream));
	MUST(cudaFree(memory));
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	MUST(pthread_barrier_init(&barrier, NULL, THREADS));
	for (size_t i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, work, NULL));
	for (size_t i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL));
	return 0;
}
