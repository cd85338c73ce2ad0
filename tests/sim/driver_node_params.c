/* Graph nodes: asking for their parameters, and changing them. */
#include "driver_node.h"

CUresult sim_node_set(struct sim_node *node, const struct sim_work *work)
{
	struct sim_work copy;

	if (node->work.type != work->type)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_work_copy(&copy, work))
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_work_drop(&node->work);
	node->work = copy;
	return CUDA_SUCCESS;
}

static struct sim_work *work_in(CUgraphNode handle, CUgraphNodeType type)
{
	SIM_FIND(node, sim_node, handle, SIM_NODE);

	return node && node->work.type == type ? &node->work : NULL;
}

static CUresult set(CUresult rc, CUgraphNode handle, struct sim_work *work)
{
	SIM_FIND(node, sim_node, handle, SIM_NODE);

	if (rc == CUDA_SUCCESS)
		rc = node ? sim_node_set(node, work) : CUDA_ERROR_INVALID_VALUE;
	sim_work_drop(work);
	return rc;
}

SIM_API(cuGraphKernelNodeGetParams_v2, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams),
	(hNode, nodeParams))
{
	const struct sim_work *work = work_in(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	const struct sim_launch *launch = work ? &work->launch : NULL;
	bool is_kernel = launch && sim_object_find(launch->handle, SIM_KERNEL);

	if (!launch || !nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	*nodeParams = (CUDA_KERNEL_NODE_PARAMS){
		.func = is_kernel ? NULL : launch->handle,
		.kern = is_kernel ? (CUkernel)launch->handle : NULL,
		.gridDimX = launch->grid[0],
		.gridDimY = launch->grid[1],
		.gridDimZ = launch->grid[2],
		.blockDimX = launch->block[0],
		.blockDimY = launch->block[1],
		.blockDimZ = launch->block[2],
		.sharedMemBytes = launch->shared,
		.kernelParams = launch->params,
	};
	return CUDA_SUCCESS;
}

SIM_API(cuGraphKernelNodeGetParams, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
	(hNode, nodeParams))
{
	CUDA_KERNEL_NODE_PARAMS newer;
	CUresult rc = do_cuGraphKernelNodeGetParams_v2(hNode, nodeParams ? &newer : NULL);

	if (rc != CUDA_SUCCESS)
		return rc;
	*nodeParams = (CUDA_KERNEL_NODE_PARAMS_v1){
		.func = newer.func ? newer.func : (CUfunction)newer.kern,
		.gridDimX = newer.gridDimX,
		.gridDimY = newer.gridDimY,
		.gridDimZ = newer.gridDimZ,
		.blockDimX = newer.blockDimX,
		.blockDimY = newer.blockDimY,
		.blockDimZ = newer.blockDimZ,
		.sharedMemBytes = newer.sharedMemBytes,
		.kernelParams = newer.kernelParams,
	};
	return CUDA_SUCCESS;
}

SIM_API(cuGraphKernelNodeSetParams_v2,
	(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams), (hNode, nodeParams))
{
	struct sim_work work;

	return set(sim_work_of_kernel(&work, nodeParams), hNode, &work);
}

SIM_API(cuGraphKernelNodeSetParams,
	(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams), (hNode, nodeParams))
{
	struct sim_work work;

	return set(sim_work_of_kernel_v1(&work, nodeParams), hNode, &work);
}

SIM_API(cuGraphNodeSetParams, (CUgraphNode hNode, CUgraphNodeParams *nodeParams),
	(hNode, nodeParams))
{
	struct sim_work work;

	return set(sim_work_of_params(&work, nodeParams), hNode, &work);
}

/* Asks for, and replaces, the one struct that a node of this type holds. */
#define NODE_GET(name, out_type, node_type, member)                                                \
	SIM_API(name, (CUgraphNode hNode, out_type * out), (hNode, out))                           \
	{                                                                                          \
		const struct sim_work *work = work_in(hNode, node_type);                           \
		if (!work || !out)                                                                 \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		*out = member;                                                                     \
		return CUDA_SUCCESS;                                                               \
	}

#define NODE_SET(name, in_type, node_type, member)                                                 \
	SIM_API(name, (CUgraphNode hNode, const in_type *in), (hNode, in))                         \
	{                                                                                          \
		struct sim_work work = { .type = node_type };                                      \
		if (!in)                                                                           \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		work.member = *in;                                                                 \
		return set(CUDA_SUCCESS, hNode, &work);                                            \
	}

NODE_GET(cuGraphMemcpyNodeGetParams, CUDA_MEMCPY3D, CU_GRAPH_NODE_TYPE_MEMCPY, work->copy)
NODE_SET(cuGraphMemcpyNodeSetParams, CUDA_MEMCPY3D, CU_GRAPH_NODE_TYPE_MEMCPY, copy)
NODE_GET(cuGraphMemsetNodeGetParams, CUDA_MEMSET_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMSET, work->set)
NODE_SET(cuGraphMemsetNodeSetParams, CUDA_MEMSET_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMSET, set)
NODE_GET(cuGraphHostNodeGetParams, CUDA_HOST_NODE_PARAMS, CU_GRAPH_NODE_TYPE_HOST, work->host)
NODE_SET(cuGraphHostNodeSetParams, CUDA_HOST_NODE_PARAMS, CU_GRAPH_NODE_TYPE_HOST, host)
NODE_GET(cuGraphChildGraphNodeGetGraph, CUgraph, CU_GRAPH_NODE_TYPE_GRAPH, (CUgraph)work->child)
NODE_GET(cuGraphMemFreeNodeGetParams, CUdeviceptr, CU_GRAPH_NODE_TYPE_MEM_FREE, work->address)
NODE_GET(cuGraphEventRecordNodeGetEvent, CUevent, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
	 (CUevent)work->event)
NODE_GET(cuGraphEventWaitNodeGetEvent, CUevent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, (CUevent)work->event)

SIM_API(cuGraphEventRecordNodeSetEvent, (CUgraphNode hNode, CUevent event), (hNode, event))
{
	struct sim_work work;

	return set(sim_work_of_event(&work, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event), hNode, &work);
}

SIM_API(cuGraphEventWaitNodeSetEvent, (CUgraphNode hNode, CUevent event), (hNode, event))
{
	struct sim_work work;

	return set(sim_work_of_event(&work, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event), hNode, &work);
}

SIM_API(cuGraphMemAllocNodeGetParams, (CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out),
	(hNode, params_out))
{
	const struct sim_work *work = work_in(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC);

	if (!work || !params_out)
		return CUDA_ERROR_INVALID_VALUE;
	*params_out = (CUDA_MEM_ALLOC_NODE_PARAMS){
		.poolProps = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			       .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE,
					     .id = work->block->device->ordinal } },
		.bytesize = work->block->bytes,
		.dptr = (CUdeviceptr)work->block->addr,
	};
	return CUDA_SUCCESS;
}
