/* Questions about the shape of a graph: its nodes and edges, and changing the edges. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

bool sim_deps_set(struct sim_node ***deps, size_t *nr, struct sim_node *const *from, size_t count)
{
	struct sim_node **copy = malloc((count + 1) * sizeof(*copy));

	if (!copy)
		return false;
	if (count)
		memcpy(copy, from, count * sizeof(*copy));
	free(*deps);
	*deps = copy;
	*nr = count;
	return true;
}

bool sim_deps_add(struct sim_node ***deps, size_t *nr, struct sim_node *node)
{
	struct sim_node **more;

	for (size_t i = 0; i < *nr; i++)
		if ((*deps)[i] == node)
			return true;
	more = realloc(*deps, (*nr + 1) * sizeof(*more));
	if (!more)
		return false;
	more[(*nr)++] = node;
	*deps = more;
	return true;
}

void sim_deps_remove(struct sim_node *node, const struct sim_node *dep)
{
	for (size_t i = 0; i < node->nr_deps; i++)
		if (node->deps[i] == dep)
			node->deps[i--] = node->deps[--node->nr_deps];
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

static CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
			     size_t count, bool add)
{
	SIM_FIND(graph, sim_graph, handle, SIM_GRAPH);

	if (!graph || (count && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		struct sim_node *head = (struct sim_node *)from[i];
		struct sim_node *tail = (struct sim_node *)to[i];

		if (!sim_graph_has_node(graph, head) || !sim_graph_has_node(graph, tail))
			return CUDA_ERROR_INVALID_VALUE;
		if (!add)
			sim_deps_remove(tail, head);
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
