/*
 * case: libraries that allocate in their constructors, opened while other threads allocate and
 * unwind: the loader's lock and the tracer's never wait for each other; nor does the reserve of
 * thread-local memory run out (loader_lock.sh runs it; without a word it does nothing)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "program.h"

#define ROUNDS 300

static atomic_bool done;

static void *open_and_close(void *data)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *plugin = open_beside(".plugin.so", RTLD_NOW | RTLD_LOCAL);

		EXPECT(plugin);
		EXPECT(dlclose(plugin) == 0);
	}
	atomic_store(&done, true);
	return data;
}

static void *allocate_deep(int depth)
{
	void *memory;

	if (depth)
		return allocate_deep(depth - 1);
	MUST(cudaMalloc(&memory, 4096));
	MUST(cudaFree(memory));
	return NULL;
}

static void *allocate(void *data)
{
	/* A new depth is a new stack, so that modules are looked up as well. */
	for (int i = 0; !atomic_load(&done); i++)
		allocate_deep(i % 40);
	return data;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	void *memory;

	(void)argv;
	if (argc < 2)
		return 0;
	MUST(cudaMalloc(&memory, 77));
	MUST(pthread_create(&threads[0], NULL, open_and_close, NULL));
	for (int i = 1; i < 4; i++)
		MUST(pthread_create(&threads[i], NULL, allocate, NULL));
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(threads[i], NULL));
	return 0;
}
