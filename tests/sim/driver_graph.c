/*
 * Graphs: a list of nodes in order of creation, each with its work and what it depends on. An exec
 * holds a copy in executable order. The entries about single node types are in driver_node.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_node_of(const void *handle, const struct sim_graph *graph)
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
		if (!is_node_of(deps[i], graph))
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

/* Fills up to *count of the list, or only counts when there is no list. */
struct listing {
	CUgraphNode *list;
	size_t room, found;
};

static void enlist(struct listing *listing, struct sim_node *node)
{
	if (listing->list && listing->found < listing->room)
		listing->list[listing->found] = (CUgraphNode)node;
	listing->found++;
}

static CUresult finish(struct listing *listing, size_t *count)
{
	size_t room = *count;

	*count = listing->list && listing->found > room ? room : listing->found;
	for (size_t i = listing->found; listing->list && i < room; i++)
		listing->list[i] = NULL;
	return CUDA_SUCCESS;
}

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots_only)
{
	SIM_FIND(graph, sim_graph, handle, SIM_GRAPH);
	struct listing listing = { .list = nodes };

	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	listing.room = *count;
	for (struct sim_node *node = graph->nodes; node; node = node->next)
		if (!roots_only || !node->nr_deps)
			enlist(&listing, node);
	return finish(&listing, count);
}

SIM_API(cuGraphGetNodes, (CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes),
	(hGraph, nodes, numNodes))
{
	return list_nodes(hGraph, nodes, numNodes, false);
}

SIM_API(cuGraphGetRootNodes, (CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes),
	(hGraph, rootNodes, numRootNodes))
{
	return list_nodes(hGraph, rootNodes, numRootNodes, true);
}

static CUresult list_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
			   CUgraphEdgeData *data, size_t *count)
{
	SIM_FIND(graph, sim_graph, handle, SIM_GRAPH);
	struct listing heads = { .list = from }, tails = { .list = to };

	if (!graph || !count || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	heads.room = tails.room = *count;
	for (struct sim_node *node = graph->nodes; node; node = node->next)
		for (size_t i = 0; i < node->nr_deps; i++) {
			enlist(&heads, node->deps[i]);
			enlist(&tails, node);
		}
	if (data)
		memset(data, 0, *count * sizeof(*data));
	heads.room = *count;
	finish(&heads, &heads.room);
	return finish(&tails, count);
}

SIM_API(cuGraphGetEdges, (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges),
	(hGraph, from, to, numEdges))
{
	return list_edges(hGraph, from, to, NULL, numEdges);
}

SIM_API(cuGraphGetEdges_v2,
	(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
	 size_t *numEdges),
	(hGraph, from, to, edgeData, numEdges))
{
	return list_edges(hGraph, from, to, edgeData, numEdges);
}

static CUresult list_neighbours(CUgraphNode handle, CUgraphNode *nodes, size_t *count, bool after)
{
	SIM_FIND(node, sim_node, handle, SIM_NODE);
	struct listing listing = { .list = nodes };

	if (!node || !count)
		return CUDA_ERROR_INVALID_VALUE;
	listing.room = *count;
	for (size_t i = 0; !after && i < node->nr_deps; i++)
		enlist(&listing, node->deps[i]);
	for (struct sim_node *other = node->graph->nodes; after && other; other = other->next)
		for (size_t i = 0; i < other->nr_deps; i++)
			if (other->deps[i] == node)
				enlist(&listing, other);
	return finish(&listing, count);
}

SIM_API(cuGraphNodeGetDependencies,
	(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies),
	(hNode, dependencies, numDependencies))
{
	return list_neighbours(hNode, dependencies, numDependencies, false);
}

SIM_API(cuGraphNodeGetDependencies_v2,
	(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
	 size_t *numDependencies),
	(hNode, dependencies, edgeData, numDependencies))
{
	return list_neighbours(hNode, dependencies, numDependencies, false);
}

SIM_API(cuGraphNodeGetDependentNodes,
	(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes),
	(hNode, dependentNodes, numDependentNodes))
{
	return list_neighbours(hNode, dependentNodes, numDependentNodes, true);
}

SIM_API(cuGraphNodeGetDependentNodes_v2,
	(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
	 size_t *numDependentNodes),
	(hNode, dependentNodes, edgeData, numDependentNodes))
{
	return list_neighbours(hNode, dependentNodes, numDependentNodes, true);
}

static void remove_dep(struct sim_node *node, const struct sim_node *dep)
{
	for (size_t i = 0; i < node->nr_deps; i++)
		if (node->deps[i] == dep)
			node->deps[i--] = node->deps[--node->nr_deps];
}

static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
			     size_t count, bool add)
{
	SIM_FIND(graph, sim_graph, handle, SIM_GRAPH);

	if (!graph || (count && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		struct sim_node *head = (struct sim_node *)from[i];
		struct sim_node *tail = (struct sim_node *)to[i];

		if (!is_node_of(head, graph) || !is_node_of(tail, graph))
			return CUDA_ERROR_INVALID_VALUE;
		if (!add)
			remove_dep(tail, head);
		else if (!sim_deps_add(&tail->deps, &tail->nr_deps, head))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

SIM_API(cuGraphAddDependencies,
	(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies),
	(hGraph, from, to, numDependencies))
{
	return change_edges(hGraph, from, to, numDependencies, true);
}

SIM_API(cuGraphAddDependencies_v2,
	(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
	 const CUgraphEdgeData *edgeData, size_t numDependencies),
	(hGraph, from, to, edgeData, numDependencies))
{
	return change_edges(hGraph, from, to, numDependencies, true);
}

SIM_API(cuGraphRemoveDependencies,
	(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies),
	(hGraph, from, to, numDependencies))
{
	return change_edges(hGraph, from, to, numDependencies, false);
}

SIM_API(cuGraphRemoveDependencies_v2,
	(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
	 const CUgraphEdgeData *edgeData, size_t numDependencies),
	(hGraph, from, to, edgeData, numDependencies))
{
	return change_edges(hGraph, from, to, numDependencies, false);
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
		remove_dep(other, node);
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
