/* case: one block leaks, and the process ends once (all_exit.sh: by many threads together) */
/* threads */
#include <pthread.h>

#include <cuda_runtime_api.h>

#include "program.h"

#define THREADS 6

static pthread_barrier_t barrier;
static int status;

static void *leave(void *data)
{
	(void)data;
	pthread_barrier_wait(&barrier);
	exit(status);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *memory;

	(void)argv;
	MUST(cudaMalloc(&memory, 3 * MIB));
	if (argc == 1)
		return 0;
	status = 5;
	MUST(pthread_barrier_init(&barrier, NULL, THREADS));
	for (int i = 0; i < THREADS - 1; i++)
		MUST(pthread_create(&thread, NULL, leave, NULL));
	leave(NULL);
	return 0;
}
