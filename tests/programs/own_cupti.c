/*
 * case: a program that uses CUPTI itself keeps it, before and after the first CUDA call, and its
 * leak is reported all the same; kernels=cupti stands back from one that came before (GM68)
 */
#include <cuda_runtime_api.h>

#include "program.h"

/* Of CUPTI's headers, which a toolkit may lack. */
#define DOMAIN_DRIVER	     1
#define MULTIPLE_SUBSCRIBERS 39
typedef void callback_fn(void *data, int domain, unsigned int id, const void *info);

static int (*subscribe)(void **handle, callback_fn *callback, void *data);
static int (*unsubscribe)(void *handle);
static int (*enable_domain)(unsigned int enable, void *handle, int domain);
static int nr_callbacks;

static void on_callback(void *data, int domain, unsigned int id, const void *info)
{
	(void)data;
	(void)id;
	(void)info;
	nr_callbacks += domain == DOMAIN_DRIVER;
}

static int find_cupti(void)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW);

	if (!cupti)
		return 0;
	*(void **)&subscribe = dlsym(cupti, "cuptiSubscribe");
	*(void **)&unsubscribe = dlsym(cupti, "cuptiUnsubscribe");
	*(void **)&enable_domain = dlsym(cupti, "cuptiEnableDomain");
	return subscribe && unsubscribe && enable_domain;
}

static void leak(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 2 * MIB));
}

static void free_one(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 1 * MIB));
	MUST(cudaFree(memory));
}

int main(int argc, char **argv)
{
	int after = argc > 1 && strcmp(argv[1], "after") == 0, rc;
	void *handle;

	if (!find_cupti())
		return 77;
	if (after)
		free_one();
	rc = subscribe(&handle, on_callback, NULL);
	/* With kernels=cupti we were first: README says so. */
	if (after && rc == MULTIPLE_SUBSCRIBERS) {
		leak();
		return 40;
	}
	MUST(rc);
	MUST(enable_domain(1, handle, DOMAIN_DRIVER));
	leak();
	EXPECT(nr_callbacks > 0);
	/* It may give it back and take it again. */
	MUST(unsubscribe(handle));
	MUST(subscribe(&handle, on_callback, NULL));
	MUST(unsubscribe(handle));
	return 0;
}
