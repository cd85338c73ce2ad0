/* Executable graphs: a private, ordered copy of a graph that can be launched again and again. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "driver_node.h"

static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t flags)
{
	SIM_FIND(graph, sim_graph, handle, SIM_GRAPH);
	bool has_memory;
	struct sim_exec *exec;
	struct sim_graph *copy;
	CUresult rc;

	if (!out || !graph || flags & ~(uint64_t)0xf)
		return CUDA_ERROR_INVALID_VALUE;
	/* The addresses of allocation nodes are fixed, so two copies cannot run. */
	has_memory = sim_graph_has_memory(graph);
	if (has_memory && graph->exec)
		return CUDA_ERROR_NOT_SUPPORTED;
	copy = sim_graph_copy(graph, &rc);
	if (!copy)
		return rc;
	exec = sim_graph_sort(copy) ? sim_object_new(sizeof(*exec), SIM_EXEC, NULL) : NULL;
	if (!exec) {
		sim_graph_destroy(copy);
		return CUDA_ERROR_INVALID_VALUE;
	}
	exec->graph = copy;
	exec->source = graph;
	exec->flags = flags;
	if (has_memory)
		graph->exec = exec;
	*out = (CUgraphExec)exec;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphInstantiate,
	(CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
	 size_t bufferSize),
	(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize))
{
	if (phErrorNode)
		*phErrorNode = NULL;
	if (logBuffer && bufferSize)
		*logBuffer = '\0';
	return instantiate(phGraphExec, hGraph, 0);
}

SIM_API_SAME(cuGraphInstantiate_v2, cuGraphInstantiate,
	     (CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
	      size_t bufferSize),
	     (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize));

SIM_API(cuGraphInstantiateWithFlags,
	(CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags),
	(phGraphExec, hGraph, flags))
{
	return instantiate(phGraphExec, hGraph, flags);
}

SIM_API_TWIN(cuGraphInstantiateWithParams, _ptsz,
	     (CUgraphExec * phGraphExec, CUgraph hGraph,
	      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
	     (phGraphExec, hGraph, instantiateParams))
{
	CUresult rc;

	if (!instantiateParams)
		return CUDA_ERROR_INVALID_VALUE;
	rc = instantiate(phGraphExec, hGraph, instantiateParams->flags);
	instantiateParams->hErrNode_out = NULL;
	instantiateParams->result_out =
		rc == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
	return rc;
}

SIM_API(cuGraphExecGetFlags, (CUgraphExec hGraphExec, cuuint64_t *flags), (hGraphExec, flags))
{
	SIM_FIND(exec, sim_exec, hGraphExec, SIM_EXEC);

	if (!exec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = exec->flags;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphExecDestroy, (CUgraphExec hGraphExec), (hGraphExec))
{
	SIM_FIND(exec, sim_exec, hGraphExec, SIM_EXEC);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_object_find(exec->source, SIM_GRAPH) && exec->source->exec == exec)
		exec->source->exec = NULL;
	sim_graph_destroy(exec->graph);
	sim_object_free(exec);
	return CUDA_SUCCESS;
}

static void free_earlier(struct sim_graph *graph)
{
	for (struct sim_node *node = graph->nodes; node; node = node->next) {
		struct sim_graph_block *block = node->work.block;
		bool allocates = node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;

		if (allocates && block->live)
			sim_graph_block_free(sim_range_at((uintptr_t)block->addr, SIM_KIND_GRAPH));
	}
}

SIM_API_TWIN(cuGraphLaunch, _ptsz, (CUgraphExec hGraph, CUstream hStream), (hGraph, hStream))
{
	SIM_FIND(exec, sim_exec, hGraph, SIM_EXEC);
	struct sim_stream *stream;
	CUresult rc = sim_stream_for_work(hStream, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture) {
		struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_GRAPH, .child = exec->graph };

		return sim_capture_work(stream, &work);
	}
	if (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
		free_earlier(exec->graph);
	return sim_graph_run(exec->graph, stream);
}

SIM_API_TWIN(cuGraphUpload, _ptsz, (CUgraphExec hGraph, CUstream hStream), (hGraph, hStream))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS && !sim_object_find(hGraph, SIM_EXEC))
		rc = CUDA_ERROR_INVALID_VALUE;
	return rc;
}

/* The exec's own copy of a node of its source. */
static struct sim_node *node_in(CUgraphExec handle, CUgraphNode node_handle, CUgraphNodeType type)
{
	SIM_FIND(exec, sim_exec, handle, SIM_EXEC);
	struct sim_node *node = exec ? exec->graph->nodes : NULL;

	while (node && node->origin != (struct sim_node *)node_handle)
		node = node->next;
	return node && node->work.type == type ? node : NULL;
}

static CUresult set_in(CUgraphExec exec, CUgraphNode node_handle, const struct sim_work *work)
{
	struct sim_node *node = node_in(exec, node_handle, work->type);

	return node ? sim_node_set(node, work) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGraphExecKernelNodeSetParams_v2,
	(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams),
	(hGraphExec, hNode, nodeParams))
{
	struct sim_work work;
	CUresult rc = sim_work_of_kernel(&work, nodeParams);

	if (rc == CUDA_SUCCESS)
		rc = set_in(hGraphExec, hNode, &work);
	sim_work_drop(&work);
	return rc;
}

SIM_API(cuGraphExecKernelNodeSetParams,
	(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
	(hGraphExec, hNode, nodeParams))
{
	struct sim_work work;
	CUresult rc = sim_work_of_kernel_v1(&work, nodeParams);

	if (rc == CUDA_SUCCESS)
		rc = set_in(hGraphExec, hNode, &work);
	sim_work_drop(&work);
	return rc;
}

SIM_API(cuGraphExecMemcpyNodeSetParams,
	(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams, CUcontext ctx),
	(hGraphExec, hNode, copyParams, ctx))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEMCPY };

	if (!copyParams)
		return CUDA_ERROR_INVALID_VALUE;
	work.copy = *copyParams;
	return set_in(hGraphExec, hNode, &work);
}

SIM_API(cuGraphExecMemsetNodeSetParams,
	(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
	 CUcontext ctx),
	(hGraphExec, hNode, memsetParams, ctx))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEMSET };

	if (!memsetParams)
		return CUDA_ERROR_INVALID_VALUE;
	work.set = *memsetParams;
	return set_in(hGraphExec, hNode, &work);
}

SIM_API(cuGraphExecHostNodeSetParams,
	(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams),
	(hGraphExec, hNode, nodeParams))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_HOST };

	if (!nodeParams)
		return CUDA_ERROR_INVALID_VALUE;
	work.host = *nodeParams;
	return set_in(hGraphExec, hNode, &work);
}

SIM_API(cuGraphExecNodeSetParams,
	(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams),
	(hGraphExec, hNode, nodeParams))
{
	struct sim_work work;
	CUresult rc = sim_work_of_params(&work, nodeParams);

	if (rc == CUDA_SUCCESS)
		rc = set_in(hGraphExec, hNode, &work);
	sim_work_drop(&work);
	return rc;
}

static struct sim_node *any_node_in(CUgraphExec exec, CUgraphNode node)
{
	SIM_FIND(origin, sim_node, node, SIM_NODE);

	return origin ? node_in(exec, node, origin->work.type) : NULL;
}

SIM_API(cuGraphNodeSetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled),
	(hGraphExec, hNode, isEnabled))
{
	struct sim_node *node = any_node_in(hGraphExec, hNode);

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	node->disabled = !isEnabled;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled),
	(hGraphExec, hNode, isEnabled))
{
	struct sim_node *node = any_node_in(hGraphExec, hNode);

	if (!node || !isEnabled)
		return CUDA_ERROR_INVALID_VALUE;
	*isEnabled = !node->disabled;
	return CUDA_SUCCESS;
}

/* Graphs of the same shape only: node for node in executable order. */
static CUresult update(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResult *result)
{
	SIM_FIND(exec, sim_exec, handle, SIM_EXEC);
	SIM_FIND(graph, sim_graph, graph_handle, SIM_GRAPH);
	struct sim_graph *copy;
	struct sim_node *old, *new;
	CUresult rc;

	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	*result = CU_GRAPH_EXEC_UPDATE_ERROR;
	copy = sim_graph_copy(graph, &rc);
	if (!copy)
		return rc;
	sim_graph_sort(copy);
	old = exec->graph->nodes;
	new = copy->nodes;
	for (; old && new && old->work.type == new->work.type; old = old->next, new = new->next)
		new->origin = old->origin;
	if (old || new) {
		*result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		sim_graph_destroy(copy);
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	sim_graph_destroy(exec->graph);
	exec->graph = copy;
	*result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphExecUpdate,
	(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
	 CUgraphExecUpdateResult *updateResult_out),
	(hGraphExec, hGraph, hErrorNode_out, updateResult_out))
{
	CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
	CUresult rc = update(hGraphExec, hGraph, &result);

	if (hErrorNode_out)
		*hErrorNode_out = NULL;
	if (updateResult_out)
		*updateResult_out = result;
	return rc;
}

SIM_API(cuGraphExecUpdate_v2,
	(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo),
	(hGraphExec, hGraph, resultInfo))
{
	CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
	CUresult rc = update(hGraphExec, hGraph, &result);

	if (resultInfo)
		*resultInfo = (CUgraphExecUpdateResultInfo){ .result = result };
	return rc;
}
