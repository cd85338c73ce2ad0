/* case: sixteen threads that free each other's blocks leave the one that nobody freed */
/* threads */
#include <pthread.h>

#include <cuda_runtime_api.h>

#include "program.h"

#define THREADS 16
#define BLOCKS	100

static void *blocks[THREADS][BLOCKS];
static pthread_barrier_t barrier;

static void *work(void *data)
{
	int me = (int)(size_t)data, neighbour = (me + 1) % THREADS;

	for (int i = 0; i < BLOCKS; i++)
		MUST(cudaMalloc(&blocks[me][i], 1000));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < BLOCKS; i++)
		if (neighbour || i)
			MUST(cudaFree(blocks[neighbour][i]));
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	MUST(pthread_barrier_init(&barrier, NULL, THREADS));
	for (size_t i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, work, (void *)i));
	for (size_t i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL));
	return 0;
}
