/* case: memory that a capture allocates is a graph's: no block, no leak; what it frees stays live
 */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	void *inside, *outside;

	MUST(cudaStreamCreate(&stream));
	MUST(cudaMallocAsync(&outside, 2 * MIB, stream));

	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	MUST(cudaMallocAsync(&inside, 3 * MIB, stream));
	MUST(cudaFreeAsync(inside, stream));
	MUST(cudaStreamEndCapture(stream, &graph));

	MUST(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		MUST(cudaGraphLaunch(exec, stream));
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaGraphExecDestroy(exec));
	MUST(cudaGraphDestroy(graph));

	/* After the capture the stream allocates memory again. */
	MUST(cudaMallocAsync(&inside, 5 * MIB, stream));
	MUST(cudaFreeAsync(outside, stream));
	MUST(cudaStreamDestroy(stream));
	return 0;
}
