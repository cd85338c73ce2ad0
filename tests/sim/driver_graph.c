/*
 * Graphs: a list of nodes in order of creation, each with its work and what it depends on. An exec
 * holds a copy in executable order. The entries about single node types are in driver_node.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

struct sim_graph *sim_graph_new(void)
{
	struct sim_graph *graph = sim_object_new(sizeof(*graph), SIM_GRAPH, NULL);

	if (graph)
		graph->tail = &graph->nodes;
	return graph;
}

static void free_node(struct sim_node *node)
{
	sim_work_drop(&node->work);
	free(node->deps);
	sim_object_free(node);
}

void sim_graph_destroy(struct sim_graph *graph)
{
	while (graph->nodes) {
		struct sim_node *node = graph->nodes;

		graph->nodes = node->next;
		free_node(node);
	}
	sim_user_refs_release(graph);
	sim_object_free(graph);
}

static struct sim_node *append(struct sim_graph *graph, const struct sim_work *work)
{
	struct sim_node *node = sim_object_new(sizeof(*node), SIM_NODE, NULL);

	if (!node)
		return NULL;
	if (!sim_work_copy(&node->work, work)) {
		sim_object_free(node);
		return NULL;
	}
	node->graph = graph;
	*graph->tail = node;
	graph->tail = &node->next;
	return node;
}

bool sim_graph_has_node(const struct sim_graph *graph, const void *handle)
{
	SIM_FIND(node, sim_node, handle, SIM_NODE);

	return node && node->graph == graph;
}

CUresult sim_graph_add(struct sim_graph *graph, const CUgraphNode *deps, size_t nr_deps,
		       const struct sim_work *work, struct sim_node **out)
{
	struct sim_node *node;

	if (nr_deps && !deps)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < nr_deps; i++)
		if (!sim_graph_has_node(graph, deps[i]))
			return CUDA_ERROR_INVALID_VALUE;
	if (work->type == CU_GRAPH_NODE_TYPE_MEM_FREE && !sim_graph_block_at(work->address))
		return CUDA_ERROR_INVALID_VALUE;
	node = append(graph, work);
	if (!node ||
	    !sim_deps_set(&node->deps, &node->nr_deps, (struct sim_node *const *)deps, nr_deps))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = node;
	return CUDA_SUCCESS;
}

struct sim_graph *sim_graph_copy(const struct sim_graph *graph, CUresult *rc)
{
	struct sim_graph *copy = sim_graph_new();

	*rc = CUDA_ERROR_OUT_OF_MEMORY;
	if (!copy)
		return NULL;
	for (struct sim_node *node = graph->nodes; node; node = node->next) {
		node->twin = append(copy, &node->work);
		if (!node->twin)
			return NULL;
		node->twin->origin = node;
	}
	for (struct sim_node *node = graph->nodes; node; node = node->next)
		for (size_t i = 0; i < node->nr_deps; i++)
			if (!sim_deps_add(&node->twin->deps, &node->twin->nr_deps,
					  node->deps[i]->twin))
				return NULL;
	sim_user_refs_copy(copy, graph);
	*rc = CUDA_SUCCESS;
	return copy;
}

static bool is_ready(const struct sim_node *node)
{
	for (size_t i = 0; i < node->nr_deps; i++)
		if (!node->deps[i]->visited)
			return false;
	return true;
}

bool sim_graph_sort(struct sim_graph *graph)
{
	struct sim_node *waiting = graph->nodes;
	bool moved = true;

	for (struct sim_node *node = waiting; node; node = node->next)
		node->visited = false;
	graph->nodes = NULL;
	graph->tail = &graph->nodes;
	while (waiting && moved) {
		struct sim_node **link = &waiting;

		moved = false;
		while (*link) {
			struct sim_node *node = *link;

			if (!is_ready(node)) {
				link = &node->next;
				continue;
			}
			*link = node->next;
			node->next = NULL;
			node->visited = true;
			*graph->tail = node;
			graph->tail = &node->next;
			moved = true;
		}
	}
	*graph->tail = waiting; /* a cycle: keep them, to be freed */
	return !waiting;
}

bool sim_graph_has_memory(const struct sim_graph *graph)
{
	for (const struct sim_node *node = graph->nodes; node; node = node->next)
		if (node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
		    node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
			return true;
	return false;
}

CUresult sim_graph_run(struct sim_graph *graph, struct sim_stream *stream)
{
	CUresult rc = CUDA_SUCCESS;

	for (struct sim_node *node = graph->nodes; rc == CUDA_SUCCESS && node; node = node->next)
		if (!node->disabled)
			rc = sim_work_run(&node->work, stream);
	return rc;
}

SIM_API(cuGraphCreate, (CUgraph * phGraph, unsigned int flags), (phGraph, flags))
{
	struct sim_graph *graph;

	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	graph = sim_graph_new();
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phGraph = (CUgraph)graph;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphDestroy, (CUgraph hGraph), (hGraph))
{
	SIM_FIND(graph, sim_graph, hGraph, SIM_GRAPH);

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_destroy(graph);
	return CUDA_SUCCESS;
}

SIM_API(cuGraphClone, (CUgraph * phGraphClone, CUgraph originalGraph),
	(phGraphClone, originalGraph))
{
	SIM_FIND(graph, sim_graph, originalGraph, SIM_GRAPH);
	CUresult rc;

	if (!phGraphClone || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_graph_has_memory(graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	*phGraphClone = (CUgraph)sim_graph_copy(graph, &rc);
	return rc;
}

SIM_API(cuGraphNodeFindInClone,
	(CUgraphNode * phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph),
	(phNode, hOriginalNode, hClonedGraph))
{
	SIM_FIND(graph, sim_graph, hClonedGraph, SIM_GRAPH);
	struct sim_node *node = graph ? graph->nodes : NULL;

	while (node && node->origin != (struct sim_node *)hOriginalNode)
		node = node->next;
	if (!phNode || !node)
		return CUDA_ERROR_INVALID_VALUE;
	*phNode = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphNodeGetType, (CUgraphNode hNode, CUgraphNodeType *type), (hNode, type))
{
	SIM_FIND(node, sim_node, hNode, SIM_NODE);

	if (!node || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = node->work.type;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphDestroyNode, (CUgraphNode hNode), (hNode))
{
	SIM_FIND(node, sim_node, hNode, SIM_NODE);
	struct sim_node **link;

	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	if (node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
	    node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
		return CUDA_ERROR_NOT_SUPPORTED;
	for (struct sim_node *other = node->graph->nodes; other; other = other->next)
		sim_deps_remove(other, node);
	link = &node->graph->nodes;
	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	if (node->graph->tail == &node->next)
		node->graph->tail = link;
	free_node(node);
	return CUDA_SUCCESS;
}

SIM_API(cuGraphDebugDotPrint, (CUgraph hGraph, const char *path, unsigned int flags),
	(hGraph, path, flags))
{
	SIM_FIND(graph, sim_graph, hGraph, SIM_GRAPH);
	FILE *file;

	if (!graph || !path)
		return CUDA_ERROR_INVALID_VALUE;
	file = fopen(path, "w");
	if (!file)
		return CUDA_ERROR_OPERATING_SYSTEM;
	fprintf(file, "digraph dot {\n");
	for (struct sim_node *node = graph->nodes; node; node = node->next)
		for (size_t i = 0; i < node->nr_deps; i++)
			fprintf(file, "\"%p\" -> \"%p\";\n", (void *)node->deps[i], (void *)node);
	fprintf(file, "}\n");
	fclose(file);
	return CUDA_SUCCESS;
}
