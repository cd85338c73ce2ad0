/* Transforms a signal there and back by cuFFT; frees all of its own but one block. */
#include <cufft.h>

#include "library.h"

#define N     65536
#define BATCH 16

static cufftComplex signal[N * BATCH];

int main(void)
{
	cufftHandle plan;
	cufftComplex *device;

	for (int i = 0; i < N * BATCH; i++)
		signal[i].x = (float)(i % 17);
	device = device_copy(signal, sizeof(signal));
	CHECK(cufftPlan1d(&plan, N, CUFFT_C2C, BATCH));
	CHECK(cufftExecC2C(plan, device, device, CUFFT_FORWARD));
	CHECK(cudaMemcpy(signal, device, sizeof(signal), cudaMemcpyDeviceToHost));
	printf("forward %.9g %.9g\n", signal[0].x, signal[5].y);
	CHECK(cufftExecC2C(plan, device, device, CUFFT_INVERSE));
	CHECK(cudaMemcpy(signal, device, sizeof(signal), cudaMemcpyDeviceToHost));
	printf("back %.9g\n", signal[16].x / N);
	CHECK(cufftDestroy(plan));
	CHECK(cudaFree(device));
	keep_one();
	return 0;
}
