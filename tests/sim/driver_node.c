/* Graph nodes: their parameters as work, and adding them. */
#include <stdlib.h>

#include "driver_node.h"

CUresult sim_work_of_kernel(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS *params)
{
	*work = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_KERNEL };
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	work->launch = (struct sim_launch){
		.grid = { params->gridDimX, params->gridDimY, params->gridDimZ },
		.block = { params->blockDimX, params->blockDimY, params->blockDimZ },
		.shared = params->sharedMemBytes,
	};
	return sim_launch_set(&work->launch, params->func ? params->func : (CUfunction)params->kern,
			      params->kernelParams, params->extra);
}

CUresult sim_work_of_kernel_v1(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUDA_KERNEL_NODE_PARAMS newer;

	if (!params)
		return sim_work_of_kernel(work, NULL);
	newer = (CUDA_KERNEL_NODE_PARAMS){
		.func = params->func,
		.gridDimX = params->gridDimX,
		.gridDimY = params->gridDimY,
		.gridDimZ = params->gridDimZ,
		.blockDimX = params->blockDimX,
		.blockDimY = params->blockDimY,
		.blockDimZ = params->blockDimZ,
		.sharedMemBytes = params->sharedMemBytes,
		.kernelParams = params->kernelParams,
		.extra = params->extra,
	};
	return sim_work_of_kernel(work, &newer);
}

static CUresult work_of_alloc(struct sim_work *work, const CUmemPoolProps *props, size_t bytes,
			      CUdeviceptr *addr)
{
	struct sim_device *device = sim_device(props->location.id);

	*work = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	if (!device || props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	work->block = sim_graph_block_new(device, bytes);
	if (!work->block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*addr = (CUdeviceptr)work->block->addr;
	return CUDA_SUCCESS;
}

static CUresult work_of_child(struct sim_work *work, CUgraph child)
{
	SIM_FIND(graph, sim_graph, child, SIM_GRAPH);
	CUresult rc;

	*work = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_GRAPH };
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_graph_has_memory(graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	work->child = sim_graph_copy(graph, &rc);
	return rc;
}

CUresult sim_work_of_event(struct sim_work *work, CUgraphNodeType type, CUevent event)
{
	*work = (struct sim_work){ .type = type, .event = sim_object_find(event, SIM_EVENT) };
	return work->event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult work_of_kernel_v3(struct sim_work *work, const CUDA_KERNEL_NODE_PARAMS_v3 *params)
{
	CUDA_KERNEL_NODE_PARAMS older = {
		.func = params->func,
		.gridDimX = params->gridDimX,
		.gridDimY = params->gridDimY,
		.gridDimZ = params->gridDimZ,
		.blockDimX = params->blockDimX,
		.blockDimY = params->blockDimY,
		.blockDimZ = params->blockDimZ,
		.sharedMemBytes = params->sharedMemBytes,
		.kernelParams = params->kernelParams,
		.extra = params->extra,
		.kern = params->kern,
	};

	return sim_work_of_kernel(work, &older);
}

CUresult sim_work_of_params(struct sim_work *work, CUgraphNodeParams *params)
{
	*work = (struct sim_work){ .type = CU_GRAPH_NODE_TYPE_EMPTY };
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return work_of_kernel_v3(work, &params->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		work->type = params->type;
		work->copy = params->memcpy.copyParams;
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		work->type = params->type;
		work->set =
			(CUDA_MEMSET_NODE_PARAMS){ params->memset.dst,	 params->memset.pitch,
						   params->memset.value, params->memset.elementSize,
						   params->memset.width, params->memset.height };
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_HOST:
		work->type = params->type;
		work->host = (CUDA_HOST_NODE_PARAMS){ params->host.fn, params->host.userData };
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return work_of_child(work, params->graph.graph);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return sim_work_of_event(work, params->type, params->eventWait.event);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return sim_work_of_event(work, params->type, params->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return work_of_alloc(work, &params->alloc.poolProps, params->alloc.bytesize,
				     &params->alloc.dptr);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		work->type = params->type;
		work->address = params->free.dptr;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

/* Adds, if `rc` is good so far, and drops the work in any case. */
static CUresult add(CUresult rc, CUgraphNode *out, CUgraph handle, const CUgraphNode *deps,
		    size_t nr_deps, struct sim_work *work)
{
	SIM_FIND(graph, sim_graph, handle, SIM_GRAPH);
	struct sim_node *node;

	if (rc == CUDA_SUCCESS && (!graph || !out))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == CUDA_SUCCESS)
		rc = sim_graph_add(graph, deps, nr_deps, work, &node);
	if (rc == CUDA_SUCCESS)
		*out = (CUgraphNode)node;
	sim_work_drop(work);
	return rc;
}

#define ADD_PARAMS                                                                                 \
	CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,                 \
		size_t numDependencies
#define ADD_ARGS phGraphNode, hGraph, dependencies, numDependencies

SIM_API(cuGraphAddNode, (ADD_PARAMS, CUgraphNodeParams *nodeParams), (ADD_ARGS, nodeParams))
{
	struct sim_work work;

	return add(sim_work_of_params(&work, nodeParams), ADD_ARGS, &work);
}

SIM_API(cuGraphAddNode_v2,
	(CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
	 const CUgraphEdgeData *dependencyData, size_t numDependencies,
	 CUgraphNodeParams *nodeParams),
	(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams))
{
	struct sim_work work;

	return add(sim_work_of_params(&work, nodeParams), ADD_ARGS, &work);
}

SIM_API(cuGraphAddKernelNode_v2, (ADD_PARAMS, const CUDA_KERNEL_NODE_PARAMS *nodeParams),
	(ADD_ARGS, nodeParams))
{
	struct sim_work work;

	return add(sim_work_of_kernel(&work, nodeParams), ADD_ARGS, &work);
}

SIM_API(cuGraphAddKernelNode, (ADD_PARAMS, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
	(ADD_ARGS, nodeParams))
{
	struct sim_work work;

	return add(sim_work_of_kernel_v1(&work, nodeParams), ADD_ARGS, &work);
}

SIM_API(cuGraphAddMemcpyNode, (ADD_PARAMS, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
	(ADD_ARGS, copyParams, ctx))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEMCPY };

	if (!copyParams)
		return CUDA_ERROR_INVALID_VALUE;
	work.copy = *copyParams;
	return add(CUDA_SUCCESS, ADD_ARGS, &work);
}

SIM_API(cuGraphAddMemsetNode,
	(ADD_PARAMS, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx),
	(ADD_ARGS, memsetParams, ctx))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEMSET };

	if (!memsetParams)
		return CUDA_ERROR_INVALID_VALUE;
	work.set = *memsetParams;
	return add(CUDA_SUCCESS, ADD_ARGS, &work);
}

SIM_API(cuGraphAddHostNode, (ADD_PARAMS, const CUDA_HOST_NODE_PARAMS *nodeParams),
	(ADD_ARGS, nodeParams))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_HOST };

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	work.host = *nodeParams;
	return add(CUDA_SUCCESS, ADD_ARGS, &work);
}

SIM_API(cuGraphAddChildGraphNode, (ADD_PARAMS, CUgraph childGraph), (ADD_ARGS, childGraph))
{
	struct sim_work work;

	return add(work_of_child(&work, childGraph), ADD_ARGS, &work);
}

SIM_API(cuGraphAddEmptyNode, (ADD_PARAMS), (ADD_ARGS))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_EMPTY };

	return add(CUDA_SUCCESS, ADD_ARGS, &work);
}

SIM_API(cuGraphAddEventRecordNode, (ADD_PARAMS, CUevent event), (ADD_ARGS, event))
{
	struct sim_work work;

	return add(sim_work_of_event(&work, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event), ADD_ARGS,
		   &work);
}

SIM_API(cuGraphAddEventWaitNode, (ADD_PARAMS, CUevent event), (ADD_ARGS, event))
{
	struct sim_work work;

	return add(sim_work_of_event(&work, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event), ADD_ARGS, &work);
}

SIM_API(cuGraphAddMemAllocNode, (ADD_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams),
	(ADD_ARGS, nodeParams))
{
	struct sim_work work;

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	return add(work_of_alloc(&work, &nodeParams->poolProps, nodeParams->bytesize,
				 &nodeParams->dptr),
		   ADD_ARGS, &work);
}

SIM_API(cuGraphAddMemFreeNode, (ADD_PARAMS, CUdeviceptr dptr), (ADD_ARGS, dptr))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE, .address = dptr };

	return add(CUDA_SUCCESS, ADD_ARGS, &work);
}
