/*
 * Self-test of what nvcc's start-up code registers with the simulated runtime: kernels, templates,
 * and device, constant and managed variables. Built with -cudart shared, and a second time with
 * -default-stream per-thread. Exit 0, or 1 with the line that failed.
 */
#include <cstdio>
#include <cuda_runtime.h>

#define EXPECT(claim)                                                                              \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			printf("%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #claim,         \
			       cudaGetErrorName(cudaPeekAtLastError()));                           \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define OK(call) EXPECT((call) == cudaSuccess)

struct big {
	char pad[40];
	void *hidden;
};

__device__ int counter;
__device__ float table[1000];
__constant__ int scale[4];
__managed__ int shared_word; /* initial values are not simulated */

__global__ void plain(int *out, int n)
{
	if (n < 0)
		out[0] = counter + scale[0] + shared_word + (int)table[n];
}

template <typename T> __global__ void typed(T *out, struct big by_value)
{
	if (by_value.pad[0])
		out[threadIdx.x] = T();
}

static int test_launches(void)
{
	cudaLaunchConfig_t config = {};
	cudaFuncAttributes attr;
	struct big by_value = {};
	const char *name = nullptr;
	size_t offset = 0, size = 0;
	int blocks = 0;
	int n = 4;
	int *out;
	void *args[] = { &out, &n };

	OK(cudaMalloc(&out, 4096));
	by_value.hidden = out;
	plain<<<dim3(2, 3), 64>>>(out, n);
	OK(cudaGetLastError());
	typed<float><<<1, 32>>>((float *)out, by_value);
	OK(cudaGetLastError());
	typed<double><<<1, 32>>>((double *)out, by_value);
	OK(cudaGetLastError());
	OK(cudaLaunchKernel((const void *)plain, dim3(1), dim3(1), args, 0, 0));
	OK(cudaLaunchCooperativeKernel((const void *)plain, dim3(1), dim3(1), args, 0, 0));
	config.gridDim = dim3(1);
	config.blockDim = dim3(32);
	OK(cudaLaunchKernelEx(&config, plain, out, n));
	OK(cudaDeviceSynchronize());
	EXPECT(cudaLaunchKernel((const void *)&n, dim3(1), dim3(1), args, 0, 0) ==
	       cudaErrorInvalidDeviceFunction);
	cudaGetLastError();

	OK(cudaFuncGetAttributes(&attr, plain));
	EXPECT(attr.maxThreadsPerBlock > 0);
	OK(cudaFuncGetName(&name, (const void *)plain));
	EXPECT(name != nullptr);
	OK(cudaFuncGetParamInfo((const void *)typed<float>, 1, &offset, &size));
	EXPECT(offset == 8 && size == sizeof(struct big));
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 64, 0));
	EXPECT(blocks > 0);
	OK(cudaFree(out));
	return 0;
}

static int test_variables(void)
{
	int in = 42;
	int out = 0;
	size_t size = 0;
	void *address;

	shared_word = 6;
	OK(cudaMemcpyFromSymbol(&out, shared_word, sizeof(out)));
	EXPECT(out == 6);
	OK(cudaMemcpyToSymbol(counter, &in, sizeof(in)));
	OK(cudaMemcpyFromSymbol(&out, counter, sizeof(out)));
	EXPECT(out == 42);
	OK(cudaMemcpyToSymbol(scale, &in, sizeof(in), 3 * sizeof(int)));
	EXPECT(cudaMemcpyToSymbol(scale, &in, sizeof(in), 4 * sizeof(int)) != cudaSuccess);
	cudaGetLastError();
	OK(cudaGetSymbolAddress(&address, table));
	OK(cudaGetSymbolSize(&size, table));
	EXPECT(address != nullptr && size == 4000);
	EXPECT(cudaGetSymbolSize(&size, (const void *)&in) == cudaErrorInvalidSymbol);
	cudaGetLastError();
	return 0;
}

static int test_graph(void)
{
	cudaKernelNodeParams params = {}, back = {};
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	cudaStream_t stream;
	int n = 4;
	int *out;
	void *args[] = { &out, &n };

	OK(cudaMalloc(&out, 4096));
	OK(cudaStreamCreate(&stream));
	params.func = (void *)plain;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	params.kernelParams = args;
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
	OK(cudaGraphKernelNodeGetParams(node, &back));
	EXPECT(back.func == (void *)plain && back.blockDim.x == 32);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	plain<<<1, 32, 0, stream>>>(out, n);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(out));
	return 0;
}

int main()
{
	return test_variables() || test_launches() || test_graph();
}
