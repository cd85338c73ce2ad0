/* Reduces over a single rank by NCCL; frees all of its own but one block. */
#include <nccl.h>

#include "library.h"

#define N 1000003

static float values[N];

int main(void)
{
	int device = 0;
	ncclComm_t comm;
	ncclResult_t rc;
	cudaStream_t stream;
	float *in, *out;

	for (int i = 0; i < N; i++)
		values[i] = (float)(i % 11);
	rc = ncclCommInitAll(&comm, 1, &device);
	if (rc != ncclSuccess) {
		fprintf(stderr, "NCCL does not start here: %s\n", ncclGetErrorString(rc));
		return SKIP;
	}
	CHECK(cudaStreamCreate(&stream));
	in = device_copy(values, sizeof(values));
	CHECK(cudaMalloc((void **)&out, sizeof(values)));
	CHECK(ncclAllReduce(in, out, N, ncclFloat, ncclSum, comm, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpy(values, out, sizeof(values), cudaMemcpyDeviceToHost));
	printf("sum %.9g %.9g\n", values[10], values[N - 1]);
	CHECK(ncclCommDestroy(comm));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(in));
	CHECK(cudaFree(out));
	keep_one();
	return 0;
}
