/* Graph nodes of the simulated runtime. */
#include "tests/sim/runtime.h"

#include <string.h>

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
	       "one layout for both");
_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams),
	       "one layout for both");

static CUcontext current(void)
{
	CUcontext context = NULL;

	rt.cuCtxGetCurrent(&context);
	return context;
}

/* Nodes name a CUkernel and a context, as NVIDIA's runtime has them do. */
static CUresult kernel_params(const struct cudaKernelNodeParams *params,
			      CUDA_KERNEL_NODE_PARAMS *out)
{
	CUkernel kernel = NULL;
	cudaError_t err = rt_find_kernel(params->func, &kernel);

	*out = (CUDA_KERNEL_NODE_PARAMS){
		.gridDimX = params->gridDim.x,
		.gridDimY = params->gridDim.y,
		.gridDimZ = params->gridDim.z,
		.blockDimX = params->blockDim.x,
		.blockDimY = params->blockDim.y,
		.blockDimZ = params->blockDim.z,
		.sharedMemBytes = params->sharedMemBytes,
		.kernelParams = params->kernelParams,
		.extra = params->extra,
		.kern = kernel,
		.ctx = current(),
	};
	return (CUresult)err;
}

static CUresult add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
			   size_t nr_after, const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS how;
	CUresult rc = kernel_params(params, &how);

	return rc != CUDA_SUCCESS ? rc
				  : rt.cuGraphAddKernelNode(node, graph, after, nr_after, &how);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *after, size_t nr_after,
				   const struct cudaKernelNodeParams *params)
{
	return RT_CALL(add_kernel(node, graph, after, nr_after, params));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *out)
{
	CUDA_KERNEL_NODE_PARAMS how;
	cudaError_t err = RT_CALL(rt.cuGraphKernelNodeGetParams(node, &how));

	if (err != cudaSuccess)
		return err;
	*out = (struct cudaKernelNodeParams){
		.func = (void *)(how.kern ? rt_function_of(how.kern) : (void *)how.func),
		.gridDim = { how.gridDimX, how.gridDimY, how.gridDimZ },
		.blockDim = { how.blockDimX, how.blockDimY, how.blockDimZ },
		.sharedMemBytes = how.sharedMemBytes,
		.kernelParams = how.kernelParams,
		.extra = how.extra,
	};
	return cudaSuccess;
}

static CUresult set_kernel(cudaGraphNode_t node, const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS how;
	CUresult rc = kernel_params(params, &how);

	return rc != CUDA_SUCCESS ? rc : rt.cuGraphKernelNodeSetParams(node, &how);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
					 const struct cudaKernelNodeParams *params)
{
	return RT_CALL(set_kernel(node, params));
}

static CUresult exec_set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node,
				const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS how;
	CUresult rc = kernel_params(params, &how);

	return rc != CUDA_SUCCESS ? rc : rt.cuGraphExecKernelNodeSetParams(exec, node, &how);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *params)
{
	return RT_CALL(exec_set_kernel(exec, node, params));
}

static CUresult add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
			 size_t nr_after, const struct cudaMemcpy3DParms *copy)
{
	CUDA_MEMCPY3D how;
	CUresult rc = rt_copy_descriptor(copy, &how);

	if (rc != CUDA_SUCCESS)
		return rc;
	return rt.cuGraphAddMemcpyNode(node, graph, after, nr_after, &how, current());
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *after, size_t nr_after,
				   const struct cudaMemcpy3DParms *copy)
{
	return RT_CALL(add_copy(node, graph, after, nr_after, copy));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *after, size_t nr_after, void *dst,
				     const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	struct cudaMemcpy3DParms copy = {
		.srcPtr = { .ptr = (void *)src, .pitch = bytes, .xsize = bytes, .ysize = 1 },
		.dstPtr = { .ptr = dst, .pitch = bytes, .xsize = bytes, .ysize = 1 },
		.extent = { .width = bytes, .height = 1, .depth = 1 },
		.kind = kind,
	};

	return RT_CALL(add_copy(node, graph, after, nr_after, &copy));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *after, size_t nr_after,
				   const struct cudaMemsetParams *params)
{
	CUDA_MEMSET_NODE_PARAMS how = {
		.dst = (CUdeviceptr)params->dst,
		.pitch = params->pitch,
		.value = params->value,
		.elementSize = params->elementSize,
		.width = params->width,
		.height = params->height,
	};

	return RT_CALL(rt.cuGraphAddMemsetNode(node, graph, after, nr_after, &how, current()));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
				 const cudaGraphNode_t *after, size_t nr_after,
				 const struct cudaHostNodeParams *params)
{
	CUDA_HOST_NODE_PARAMS how = { .fn = params->fn, .userData = params->userData };

	return RT_CALL(rt.cuGraphAddHostNode(node, graph, after, nr_after, &how));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				  const cudaGraphNode_t *after, size_t nr_after)
{
	return RT_CALL(rt.cuGraphAddEmptyNode(node, graph, after, nr_after));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
				       const cudaGraphNode_t *after, size_t nr_after,
				       cudaGraph_t child)
{
	return RT_CALL(rt.cuGraphAddChildGraphNode(node, graph, after, nr_after, child));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *after, size_t nr_after,
				     struct cudaMemAllocNodeParams *params)
{
	return RT_CALL(rt.cuGraphAddMemAllocNode(node, graph, after, nr_after,
						 (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *out)
{
	return RT_CALL(rt.cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)out));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
				    const cudaGraphNode_t *after, size_t nr_after, void *ptr)
{
	return RT_CALL(rt.cuGraphAddMemFreeNode(node, graph, after, nr_after, (CUdeviceptr)ptr));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
	return RT_CALL(rt.cuGraphMemFreeNodeGetParams(node, out));
}

/* Kernels and copies name things that only the runtime knows; all else is laid out alike. */
static CUresult add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
			 const cudaGraphEdgeData *edges, size_t nr_after,
			 struct cudaGraphNodeParams *params)
{
	CUgraphNodeParams how;
	CUkernel kernel = NULL;
	CUresult rc = CUDA_SUCCESS;

	memcpy(&how, params, sizeof(how));
	if (params->type == cudaGraphNodeTypeKernel) {
		rc = (CUresult)rt_find_kernel(params->kernel.func, &kernel);
		how.kernel.func = NULL;
		how.kernel.kern = kernel;
		how.kernel.ctx = current();
	} else if (params->type == cudaGraphNodeTypeMemcpy) {
		memset(&how.memcpy, 0, sizeof(how.memcpy));
		rc = rt_copy_descriptor(&params->memcpy.copyParams, &how.memcpy.copyParams);
		how.memcpy.copyCtx = current();
	}
	if (rc == CUDA_SUCCESS)
		rc = rt.cuGraphAddNode(node, graph, after, (const CUgraphEdgeData *)edges, nr_after,
				       &how);
	if (rc == CUDA_SUCCESS && params->type == cudaGraphNodeTypeMemAlloc)
		params->alloc.dptr = (void *)how.alloc.dptr;
	return rc;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
			     const cudaGraphEdgeData *edges, size_t nr_after,
			     struct cudaGraphNodeParams *params)
{
	return RT_CALL(add_node(node, graph, after, edges, nr_after, params));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	return RT_CALL(rt.cuGraphNodeGetType(node, (CUgraphNodeType *)type));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
	return RT_CALL(rt.cuGraphDestroyNode(node));
}
