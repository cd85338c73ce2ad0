/*
 * One piece of work of a stream or a graph node: a copy, a fill, a kernel, a host function, an
 * event, a graph's allocation or free. The same code runs it at once or at a graph launch.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* One end of a copy. */
struct side {
	char *base;
	size_t pitch, slice;
	bool array, host; /* host: not checked, it is the program's own */
};

static struct side side_of(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
			   size_t pitch, size_t height, const CUDA_MEMCPY3D *copy)
{
	SIM_FIND(found, sim_array, array, SIM_ARRAY);
	struct side side = { .base = (char *)device, .pitch = pitch };

	if (type == CU_MEMORYTYPE_ARRAY) {
		side = (struct side){ .array = true };
		if (found)
			side = (struct side){ found->memory, found->row, found->slice, true,
					      false };
		return side;
	}
	if (type == CU_MEMORYTYPE_HOST)
		side.base = (char *)(uintptr_t)host;
	side.host = type == CU_MEMORYTYPE_HOST ||
		    (type == CU_MEMORYTYPE_UNIFIED && !sim_range_find(device));
	if (!side.pitch)
		side.pitch = copy->WidthInBytes;
	side.slice = side.pitch * (height ? height : copy->Height);
	return side;
}

static struct side source_of(const CUDA_MEMCPY3D *copy)
{
	struct side side = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
				   copy->srcArray, copy->srcPitch, copy->srcHeight, copy);

	if (side.base)
		side.base += copy->srcXInBytes + copy->srcY * side.pitch + copy->srcZ * side.slice;
	return side;
}

static struct side target_of(const CUDA_MEMCPY3D *copy)
{
	struct side side = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice,
				   copy->dstArray, copy->dstPitch, copy->dstHeight, copy);

	if (side.base)
		side.base += copy->dstXInBytes + copy->dstY * side.pitch + copy->dstZ * side.slice;
	return side;
}

static bool side_is_valid(const struct side *side, const CUDA_MEMCPY3D *copy)
{
	size_t extent;

	if (!side->base)
		return false;
	if (side->host || side->array)
		return true;
	extent = (copy->Depth - 1) * side->slice + (copy->Height - 1) * side->pitch +
		 copy->WidthInBytes;
	return sim_range_covers((uintptr_t)side->base, extent);
}

static bool copy_is_empty(const CUDA_MEMCPY3D *copy)
{
	return !copy->WidthInBytes || !copy->Height || !copy->Depth;
}

static CUresult check_copy(const CUDA_MEMCPY3D *copy)
{
	struct side from = source_of(copy), to = target_of(copy);

	if (copy_is_empty(copy))
		return CUDA_SUCCESS;
	if (!side_is_valid(&from, copy) || !side_is_valid(&to, copy))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static void run_copy(const CUDA_MEMCPY3D *copy)
{
	struct side from = source_of(copy), to = target_of(copy);

	if (copy_is_empty(copy))
		return;
	for (size_t z = 0; z < copy->Depth; z++)
		for (size_t y = 0; y < copy->Height; y++)
			memmove(to.base + z * to.slice + y * to.pitch,
				from.base + z * from.slice + y * from.pitch, copy->WidthInBytes);
}

static CUresult check_set(const CUDA_MEMSET_NODE_PARAMS *set)
{
	size_t row = set->width * set->elementSize;

	if (!set->width || !set->height)
		return CUDA_SUCCESS;
	if (set->elementSize != 1 && set->elementSize != 2 && set->elementSize != 4)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_range_covers(set->dst, (set->height - 1) * set->pitch + row)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

static void run_set(const CUDA_MEMSET_NODE_PARAMS *set)
{
	for (size_t y = 0; y < set->height; y++) {
		char *row = (char *)set->dst + y * set->pitch;

		if (set->elementSize == 1) {
			memset(row, (int)set->value, set->width);
			continue;
		}
		for (size_t x = 0; x < set->width; x++)
			memcpy(row + x * set->elementSize, &set->value, set->elementSize);
	}
}

static CUresult run_free(CUdeviceptr addr)
{
	struct sim_range *range = sim_range_find(addr);

	if (!range || range->base != addr)
		return CUDA_ERROR_INVALID_VALUE;
	if (range->kind == SIM_KIND_GRAPH)
		sim_graph_block_free(range);
	else if (range->kind == SIM_KIND_POOL)
		sim_pool_free(range);
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static void record_event(struct sim_event *event, const struct sim_stream *stream)
{
	if (!sim_object_find(event, SIM_EVENT))
		return;
	event->recorded = true;
	event->capture = NULL;
	event->time_ns = sim_now_ns();
	if (stream->busy_until_ns > event->time_ns)
		event->time_ns = stream->busy_until_ns;
}

CUresult sim_work_check(const struct sim_work *work)
{
	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return check_copy(&work->copy);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return check_set(&work->set);
	default:
		return CUDA_SUCCESS;
	}
}

CUresult sim_work_run(const struct sim_work *work, struct sim_stream *stream)
{
	CUresult rc = sim_work_check(work);

	if (rc != CUDA_SUCCESS)
		return rc;
	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return sim_launch_run(&work->launch, stream);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		run_copy(&work->copy);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		run_set(&work->set);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_HOST:
		sim_unlock();
		work->host.fn(work->host.userData);
		sim_lock();
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return sim_graph_run(work->child, stream);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		record_event(work->event, stream);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		if (sim_object_find(work->event, SIM_EVENT))
			sim_stream_busy(stream, work->event->time_ns);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return sim_graph_block_alloc(work->block);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return run_free(work->address);
	default:
		return CUDA_SUCCESS;
	}
}

CUresult sim_submit(struct sim_stream *stream, struct sim_work *work)
{
	CUresult rc;

	if (stream->capture)
		rc = sim_capture_work(stream, work);
	else
		rc = sim_work_run(work, stream);
	sim_work_drop(work);
	return rc;
}

bool sim_work_copy(struct sim_work *to, const struct sim_work *from)
{
	CUresult rc;

	*to = *from;
	switch (from->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return sim_launch_copy(&to->launch, &from->launch);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		to->child = sim_graph_copy(from->child, &rc);
		return to->child;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		from->block->refs++;
		return true;
	default:
		return true;
	}
}

void sim_work_drop(struct sim_work *work)
{
	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		free(work->launch.values);
		work->launch.values = NULL;
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		if (work->child)
			sim_graph_destroy(work->child);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		if (work->block)
			sim_graph_block_unref(work->block);
		break;
	default:
		break;
	}
}
