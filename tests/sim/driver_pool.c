/*
 * Memory pools. A pool reserves device memory in chunks of 32 MiB and cuts blocks out of them. A
 * free returns the block to its pool at once; empty chunks above the release threshold go back to
 * the device at the next synchronisation. A pool that is destroyed while blocks are live stays, as
 * a zombie, until the last of them is freed.
 */
#include <stdlib.h>

#include "driver.h"

static struct sim_pool *new_pool(struct sim_device *device, const CUmemPoolProps *props)
{
	struct sim_pool *pool = sim_object_new(sizeof(*pool), SIM_POOL, NULL);

	if (!pool)
		return NULL;
	if (!sim_chunks_open(&pool->chunks, device)) {
		sim_object_free(pool);
		return NULL;
	}
	pool->device = device;
	pool->props = *props;
	pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
	pool->next = device->pools;
	device->pools = pool;
	return pool;
}

bool sim_pools_open(struct sim_device *device)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };

	props.location.id = device->ordinal;
	if (!device->default_pool)
		device->default_pool = new_pool(device, &props);
	device->current_pool = device->default_pool;
	return device->default_pool;
}

static void drop_pool(struct sim_pool *pool)
{
	struct sim_pool **link = &pool->device->pools;

	sim_chunks_trim(&pool->chunks, 0);
	sim_chunks_close(&pool->chunks);
	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	free(pool);
}

void sim_pools_settle(struct sim_device *device)
{
	for (struct sim_pool *pool = device->pools; pool; pool = pool->next)
		sim_chunks_trim(&pool->chunks, pool->threshold);
}

static CUresult allocate(CUdeviceptr *dptr, size_t bytes, struct sim_pool *pool)
{
	struct sim_range range = {
		.bytes = bytes, .kind = SIM_KIND_POOL, .device = pool->device, .pool = pool
	};
	void *addr;

	if (sim_oom_injected(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (pool->props.maxSize && pool->chunks.used + bytes > pool->props.maxSize)
		return CUDA_ERROR_OUT_OF_MEMORY;
	addr = sim_chunks_place(&pool->chunks, bytes);
	if (!addr)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!sim_chunks_bind(&pool->chunks, addr, bytes)) {
		sim_chunks_unplace(&pool->chunks, addr, bytes);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	range.base = (uintptr_t)addr;
	if (!sim_range_add(&range)) {
		sim_chunks_unbind(&pool->chunks, addr, bytes);
		sim_chunks_unplace(&pool->chunks, addr, bytes);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pool->live++;
	sim_stat_alloc(pool->device, SIM_KIND_POOL, bytes);
	*dptr = range.base;
	return CUDA_SUCCESS;
}

void sim_pool_free(struct sim_range *range)
{
	struct sim_pool *pool = range->pool;

	sim_chunks_unbind(&pool->chunks, (void *)range->base, range->bytes);
	sim_chunks_unplace(&pool->chunks, (void *)range->base, range->bytes);
	sim_stat_free(range->device, SIM_KIND_POOL, range->bytes);
	sim_range_remove(range);
	if (--pool->live == 0 && pool->zombie)
		drop_pool(pool);
}

/* pool NULL: the current pool of the stream's device. */
static CUresult allocate_in_stream(CUdeviceptr *dptr, size_t bytes, struct sim_pool *pool,
				   CUstream handle)
{
	struct sim_stream *stream;
	CUresult rc;

	if (!dptr)
		return CUDA_ERROR_INVALID_VALUE;
	*dptr = 0;
	rc = sim_stream_for_work(handle, &stream);
	if (rc != CUDA_SUCCESS || !bytes)
		return rc; /* nothing of nothing is a success, and 0 */
	if (!pool)
		pool = stream->object.context->device->current_pool;
	if (stream->capture)
		return sim_capture_alloc(stream, pool->device, bytes, dptr);
	rc = sim_capture_forbids();
	if (rc != CUDA_SUCCESS)
		return rc;
	return allocate(dptr, bytes, pool);
}

SIM_API_TWIN(cuMemAllocAsync, _ptsz, (CUdeviceptr * dptr, size_t bytesize, CUstream hStream),
	     (dptr, bytesize, hStream))
{
	return allocate_in_stream(dptr, bytesize, NULL, hStream);
}

SIM_API_TWIN(cuMemAllocFromPoolAsync, _ptsz,
	     (CUdeviceptr * dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),
	     (dptr, bytesize, pool, hStream))
{
	SIM_FIND(from, sim_pool, pool, SIM_POOL);

	if (!from)
		return CUDA_ERROR_INVALID_VALUE;
	return allocate_in_stream(dptr, bytesize, from, hStream);
}

SIM_API_TWIN(cuMemFreeAsync, _ptsz, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE, .address = dptr };
	struct sim_stream *stream;
	struct sim_range *range;
	CUresult rc = sim_stream_for_work(hStream, &stream);

	if (rc != CUDA_SUCCESS || !dptr)
		return rc;
	if (stream->capture)
		return sim_submit(stream, &work);
	rc = sim_capture_forbids();
	if (rc != CUDA_SUCCESS)
		return rc;
	range = sim_range_find(dptr);
	if (!range || range->base != dptr)
		return CUDA_ERROR_INVALID_VALUE;
	if (range->kind == SIM_KIND_POOL) {
		sim_pool_free(range);
		return CUDA_SUCCESS;
	}
	if (range->kind == SIM_KIND_GRAPH) {
		sim_graph_block_free(range);
		return CUDA_SUCCESS;
	}
	if (range->kind == SIM_KIND_IMPORTED)
		return sim_import_free(range, true);
	if (range->kind != SIM_KIND_DEVICE)
		return range->kind == SIM_KIND_MANAGED ? CUDA_ERROR_NOT_SUPPORTED
						       : CUDA_ERROR_INVALID_VALUE;
	/* Measured: the real driver takes a cudaMalloc block here as well. */
	sim_linear_give(range->device, (void *)range->base, range->bytes);
	sim_stat_free(range->device, range->kind, range->bytes);
	sim_range_remove(range);
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *poolProps), (pool, poolProps))
{
	struct sim_device *device;
	struct sim_pool *made;

	if (!pool || !poolProps)
		return CUDA_ERROR_INVALID_VALUE;
	device = sim_device(poolProps->location.id);
	if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device ||
	    poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	made = new_pool(device, poolProps);
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*pool = (CUmemoryPool)made;
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolDestroy, (CUmemoryPool pool), (pool))
{
	SIM_FIND(victim, sim_pool, pool, SIM_POOL);
	void *imported = sim_object_find(pool, SIM_IMPORTED_POOL);

	if (imported) {
		sim_object_free(imported);
		return CUDA_SUCCESS;
	}
	if (!victim || victim == victim->device->default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (victim->device->current_pool == victim)
		victim->device->current_pool = victim->device->default_pool;
	sim_object_retire(victim);
	victim->zombie = true;
	if (!victim->live)
		drop_pool(victim);
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep), (pool, minBytesToKeep))
{
	SIM_FIND(found, sim_pool, pool, SIM_POOL);

	if (!found)
		return CUDA_ERROR_INVALID_VALUE;
	sim_chunks_trim(&found->chunks, minBytesToKeep);
	return CUDA_SUCCESS;
}

SIM_API(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value),
	(pool, attr, value))
{
	SIM_FIND(found, sim_pool, pool, SIM_POOL);
	cuuint64_t *bytes = value;
	CUresult rc = sim_capture_forbids(); /* even this is forbidden, as measured */

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!found || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)value = found->reuse[attr - 1];
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*bytes = found->threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*bytes = found->chunks.reserved;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*bytes = found->chunks.reserved_high;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*bytes = found->chunks.used;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*bytes = found->chunks.used_high;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

SIM_API(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value),
	(pool, attr, value))
{
	SIM_FIND(found, sim_pool, pool, SIM_POOL);

	if (!found || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		found->reuse[attr - 1] = *(int *)value;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		found->threshold = *(cuuint64_t *)value;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		/* The marks may be reset, and to nothing but 0. */
		if (*(cuuint64_t *)value)
			return CUDA_ERROR_INVALID_VALUE;
		if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
			found->chunks.reserved_high = found->chunks.reserved;
		else
			found->chunks.used_high = found->chunks.used;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

SIM_API(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count),
	(pool, map, count))
{
	return sim_object_find(pool, SIM_POOL) && (map || !count) ? CUDA_SUCCESS
								  : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuMemPoolGetAccess,
	(CUmemAccess_flags * flags, CUmemoryPool memPool, CUmemLocation *location),
	(flags, memPool, location))
{
	if (!flags || !location || !sim_object_find(memPool, SIM_POOL))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return CUDA_SUCCESS;
}

static CUresult tell_pool(CUmemoryPool *pool, CUdevice dev, bool current)
{
	struct sim_device *device = sim_device(dev);

	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)(current ? device->current_pool : device->default_pool);
	return CUDA_SUCCESS;
}

static CUresult set_pool(CUdevice dev, CUmemoryPool pool)
{
	struct sim_device *device = sim_device(dev);
	SIM_FIND(found, sim_pool, pool, SIM_POOL);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!found || found->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	device->current_pool = found;
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool_out, CUdevice dev), (pool_out, dev))
{
	return tell_pool(pool_out, dev, false);
}

SIM_API(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice dev), (pool, dev))
{
	return tell_pool(pool, dev, true);
}

SIM_API(cuDeviceSetMemPool, (CUdevice dev, CUmemoryPool pool), (dev, pool))
{
	return set_pool(dev, pool);
}

static bool is_device_memory(const CUmemLocation *location, CUmemAllocationType type)
{
	return location && location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       type == CU_MEM_ALLOCATION_TYPE_PINNED;
}

SIM_API(cuMemGetDefaultMemPool,
	(CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type),
	(pool_out, location, type))
{
	if (!is_device_memory(location, type))
		return CUDA_ERROR_NOT_SUPPORTED;
	return tell_pool(pool_out, location->id, false);
}

SIM_API(cuMemGetMemPool, (CUmemoryPool * pool, CUmemLocation *location, CUmemAllocationType type),
	(pool, location, type))
{
	if (!is_device_memory(location, type))
		return CUDA_ERROR_NOT_SUPPORTED;
	return tell_pool(pool, location->id, true);
}

SIM_API(cuMemSetMemPool, (CUmemLocation * location, CUmemAllocationType type, CUmemoryPool pool),
	(location, type, pool))
{
	if (!is_device_memory(location, type))
		return CUDA_ERROR_NOT_SUPPORTED;
	return set_pool(location->id, pool);
}
