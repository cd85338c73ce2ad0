/* case: what a sanitizer finds in a program is found under the tracer too (sanitized.sh) */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "program.h"

static int shared;

static void *race(void *data)
{
	void *memory;

	MUST(cudaMalloc(&memory, 8192));
	usleep(20000);
	for (int i = 0; i < 1000; i++)
		shared++;
	usleep(20000);
	MUST(cudaFree(memory));
	return data;
}

static void leak_device(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 4096));
}

/* Deep, so that what is left of it on the stack does not count as a pointer. */
static void leak_host(int depth)
{
	char *volatile memory = malloc(321);

	memory[0] = 1;
	memory = NULL;
	if (depth)
		leak_host(depth - 1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *volatile memory;
	pthread_t threads[2];

	leak_device();
	if (strcmp(how, "leak") == 0)
		leak_host(10);
	if (strcmp(how, "overflow") == 0) {
		memory = malloc(10);
		memory[argc + 8] = 1;
		free(memory);
	}
	if (strcmp(how, "race") == 0) {
		for (int i = 0; i < 2; i++)
			MUST(pthread_create(&threads[i], NULL, race, NULL));
		for (int i = 0; i < 2; i++)
			MUST(pthread_join(threads[i], NULL));
	}
	return 0;
}
