/* Multiplies two matrices by cuBLAS; frees all of its own but one block. */
#include <cublas_v2.h>

#include "library.h"

#define N 512

static float left[N * N], right[N * N], product[N * N];

int main(void)
{
	const float one = 1.0f, zero = 0.0f;
	cublasHandle_t handle;
	float *a, *b, *c;

	for (int i = 0; i < N * N; i++) {
		left[i] = (float)(i % 7);
		right[i] = (float)(i % 5);
	}
	CHECK(cublasCreate(&handle));
	a = device_copy(left, sizeof(left));
	b = device_copy(right, sizeof(right));
	c = device_copy(product, sizeof(product));
	CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c,
			  N));
	CHECK(cudaMemcpy(product, c, sizeof(product), cudaMemcpyDeviceToHost));
	printf("product %.9g %.9g %.9g\n", product[0], product[N + 3], product[N * N - 1]);
	CHECK(cublasDestroy(handle));
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaFree(c));
	keep_one();
	return 0;
}
