/* Graphs of the simulated runtime: whole graphs, executables and graph memory. */
#include "tests/sim/runtime.h"

_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS),
	       "one layout for both");
_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
	       "one layout for both");
_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "one layout for both");

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	return RT_CALL(rt.cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	return RT_CALL(rt.cuGraphDestroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	return RT_CALL(rt.cuGraphClone(clone, graph));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
				     size_t count)
{
	return RT_CALL(
		rt.cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges, count));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	return RT_CALL(rt.cuGraphGetNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	return RT_CALL(rt.cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	return RT_CALL(rt.cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
					  unsigned long long flags)
{
	return RT_CALL(rt.cuGraphInstantiateWithFlags(exec, graph, flags));
}

RT_TWINS(cudaGraphInstantiateWithParams, _ptsz,
	 (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params),
	 (exec, graph, params))
{
	return RT_CALL(drv->cuGraphInstantiateWithParams(exec, graph,
							 (CUDA_GRAPH_INSTANTIATE_PARAMS *)params));
}

RT_TWINS(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
	return RT_CALL(drv->cuGraphLaunch(exec, stream));
}

RT_TWINS(cudaGraphUpload, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
	return RT_CALL(drv->cuGraphUpload(exec, stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	return RT_CALL(rt.cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
				cudaGraphExecUpdateResultInfo *info)
{
	return RT_CALL(rt.cuGraphExecUpdate(exec, graph, (CUgraphExecUpdateResultInfo *)info));
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
	return RT_CALL(rt.cuDeviceGraphMemTrim(device));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
					   void *value)
{
	return RT_CALL(
		rt.cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
					   void *value)
{
	return RT_CALL(
		rt.cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}
