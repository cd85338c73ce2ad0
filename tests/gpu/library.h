/* What the programs with NVIDIA's libraries share. Exit 77: the library does not work here. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define SKIP 77
#define KEPT 12345 /* bytes of the one block that each program leaks */

/* Ends the program unless the call gives 0, which is success in each of the libraries. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		int check_rc = (int)(call);                                                        \
		if (check_rc) {                                                                    \
			fprintf(stderr, "%s: error %d\n", #call, check_rc);                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void *device_copy(const void *host, size_t bytes)
{
	void *device;

	CHECK(cudaMalloc(&device, bytes));
	CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
	return device;
}

static void keep_one(void)
{
	void *kept;

	CHECK(cudaMalloc(&kept, KEPT));
}

#endif
