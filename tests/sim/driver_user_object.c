/* User objects: host objects with a count of references, some of them held by graphs. */
#include <stdlib.h>

#include "driver.h"

struct user_object {
	struct sim_object object;
	void *ptr;
	CUhostFn destroy;
	unsigned int refs;
};

struct sim_user_ref {
	struct sim_user_ref *next;
	struct user_object *object;
	unsigned int count;
};

/* The destructor runs unlocked; the object is out of the registry by then. */
static void release(struct user_object *object, unsigned int count)
{
	CUhostFn destroy = object->destroy;
	void *ptr = object->ptr;

	object->refs -= count < object->refs ? count : object->refs;
	if (object->refs)
		return;
	sim_object_free(object);
	sim_unlock();
	destroy(ptr);
	sim_lock();
}

void sim_user_refs_release(struct sim_graph *graph)
{
	while (graph->user_refs) {
		struct sim_user_ref *ref = graph->user_refs;

		graph->user_refs = ref->next;
		release(ref->object, ref->count);
		free(ref);
	}
}

static bool hold(struct sim_graph *graph, struct user_object *object, unsigned int count)
{
	struct sim_user_ref *ref = malloc(sizeof(*ref));

	if (!ref)
		return false;
	*ref = (struct sim_user_ref){ graph->user_refs, object, count };
	graph->user_refs = ref;
	return true;
}

void sim_user_refs_copy(struct sim_graph *to, const struct sim_graph *from)
{
	for (const struct sim_user_ref *ref = from->user_refs; ref; ref = ref->next)
		if (hold(to, ref->object, ref->count))
			ref->object->refs += ref->count;
}

SIM_API(cuUserObjectCreate,
	(CUuserObject * object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
	 unsigned int flags),
	(object_out, ptr, destroy, initialRefcount, flags))
{
	struct user_object *object;

	if (!object_out || !destroy || !initialRefcount)
		return CUDA_ERROR_INVALID_VALUE;
	object = sim_object_new(sizeof(*object), SIM_USER_OBJECT, NULL);
	if (!object)
		return CUDA_ERROR_OUT_OF_MEMORY;
	object->ptr = ptr;
	object->destroy = destroy;
	object->refs = initialRefcount;
	*object_out = (CUuserObject)object;
	return CUDA_SUCCESS;
}

SIM_API(cuUserObjectRetain, (CUuserObject object, unsigned int count), (object, count))
{
	SIM_FIND(found, user_object, object, SIM_USER_OBJECT);

	if (!found || !count)
		return CUDA_ERROR_INVALID_VALUE;
	found->refs += count;
	return CUDA_SUCCESS;
}

SIM_API(cuUserObjectRelease, (CUuserObject object, unsigned int count), (object, count))
{
	SIM_FIND(found, user_object, object, SIM_USER_OBJECT);

	if (!found || !count)
		return CUDA_ERROR_INVALID_VALUE;
	release(found, count);
	return CUDA_SUCCESS;
}

SIM_API(cuGraphRetainUserObject,
	(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags),
	(graph, object, count, flags))
{
	SIM_FIND(holder, sim_graph, graph, SIM_GRAPH);
	SIM_FIND(found, user_object, object, SIM_USER_OBJECT);

	if (!holder || !found || !count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!hold(holder, found, count))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
		found->refs += count;
	return CUDA_SUCCESS;
}

SIM_API(cuGraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned int count),
	(graph, object, count))
{
	SIM_FIND(holder, sim_graph, graph, SIM_GRAPH);
	SIM_FIND(found, user_object, object, SIM_USER_OBJECT);
	struct sim_user_ref **link = holder ? &holder->user_refs : NULL;

	while (link && *link && (*link)->object != found)
		link = &(*link)->next;
	if (!found || !link || !*link || count > (*link)->count)
		return CUDA_ERROR_INVALID_VALUE;
	(*link)->count -= count;
	if (!(*link)->count) {
		struct sim_user_ref *ref = *link;

		*link = ref->next;
		free(ref);
	}
	release(found, count);
	return CUDA_SUCCESS;
}
