/*
 * Which addresses the program was given, and what they are: a tree of disjoint ranges, ordered by
 * address. Also the queries about pointers.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static void *tree;
static uint64_t next_id;

/* Ranges that touch each other in one byte count as equal, which makes a look-up by address. */
static int compare(const void *left, const void *right)
{
	const struct sim_range *a = left, *b = right;

	if (a->base + a->bytes <= b->base)
		return -1;
	return a->base >= b->base + b->bytes;
}

struct sim_range *sim_range_add(const struct sim_range *range)
{
	struct sim_range *copy = malloc(sizeof(*copy)), **slot;

	if (!copy)
		return NULL;
	*copy = *range;
	copy->id = ++next_id;
	slot = tsearch(copy, &tree, compare);
	if (!slot || *slot != copy) {
		free(copy);
		return NULL;
	}
	return copy;
}

struct sim_range *sim_range_find(uintptr_t addr)
{
	struct sim_range key = { .base = addr, .bytes = 1 };
	struct sim_range **slot = tfind(&key, &tree, compare);

	return slot ? *slot : NULL;
}

struct sim_range *sim_range_at(uintptr_t addr, enum sim_kind kind)
{
	struct sim_range *range = sim_range_find(addr);

	return range && range->base == addr && range->kind == kind ? range : NULL;
}

void sim_range_remove(struct sim_range *range)
{
	tdelete(range, &tree, compare);
	free(range);
}

bool sim_range_covers(uintptr_t addr, size_t bytes)
{
	uintptr_t end = addr + bytes;

	while (addr < end) {
		struct sim_range *range = sim_range_find(addr);

		if (!range || (range->kind == SIM_KIND_VMM && !range->accessible))
			return false;
		addr = range->base + range->bytes;
		/* Only mappings go on into their neighbours; blocks merely happen to touch. */
		if (range->kind != SIM_KIND_VMM)
			return addr >= end;
	}
	return true;
}

struct collection {
	const struct sim_context *context;
	struct sim_range *list;
};

static void collect(const void *node, VISIT visit, void *closure)
{
	struct sim_range *range = *(struct sim_range *const *)node;
	struct collection *found = closure;

	if ((visit == postorder || visit == leaf) && range->context == found->context) {
		range->next = found->list;
		found->list = range;
	}
}

struct sim_range *sim_range_of(const struct sim_context *ctx)
{
	struct collection found = { .context = ctx };

	twalk_r(tree, collect, &found);
	return found.list;
}

static unsigned int memory_type(const struct sim_range *range)
{
	return range->kind == SIM_KIND_PINNED || range->kind == SIM_KIND_REGISTERED
		       ? CU_MEMORYTYPE_HOST
		       : CU_MEMORYTYPE_DEVICE;
}

/* Only writes what it knows; false: no such attribute here. */
static bool attribute(const struct sim_range *range, CUpointer_attribute attr, void *data)
{
	switch (attr) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = (CUcontext)range->context;
		return true;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = memory_type(range);
		return true;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = range->base;
		return true;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (range->kind != SIM_KIND_MANAGED && memory_type(range) != CU_MEMORYTYPE_HOST)
			return false;
		*(void **)data = (void *)range->base;
		return true;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(uint64_t *)data = range->id;
		return true;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(bool *)data = range->kind == SIM_KIND_MANAGED;
		return true;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = range->device ? range->device->ordinal : CU_DEVICE_INVALID;
		return true;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(bool *)data = range->kind == SIM_KIND_DEVICE;
		return true;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = range->base;
		return true;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = range->bytes;
		return true;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(bool *)data = true;
		return true;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)data = (CUmemoryPool)range->pool;
		return true;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*(unsigned int *)data = 0;
		return true;
	default:
		return false;
	}
}

/* What cuPointerGetAttributes says of an address that nobody knows. */
static void attribute_of_nothing(CUpointer_attribute attr, void *data)
{
	switch (attr) {
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = CU_DEVICE_INVALID;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = 0;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_MAPPED:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(bool *)data = false;
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*(unsigned int *)data = 0;
		break;
	default:
		*(void **)data = NULL;
		break;
	}
}

SIM_API(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute_, CUdeviceptr ptr),
	(data, attribute_, ptr))
{
	struct sim_range *range = sim_range_find(ptr);
	uint64_t offset;

	if (!data || !range || !attribute(range, attribute_, data))
		return CUDA_ERROR_INVALID_VALUE;
	/* The two addresses keep the pointer's place in the block. */
	offset = ptr - range->base;
	if (attribute_ == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
	    attribute_ == CU_POINTER_ATTRIBUTE_HOST_POINTER)
		*(CUdeviceptr *)data += offset;
	return CUDA_SUCCESS;
}

SIM_API(cuPointerGetAttributes,
	(unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr),
	(numAttributes, attributes, data, ptr))
{
	struct sim_range *range = sim_range_find(ptr);

	if (!attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < numAttributes; i++) {
		if (!range || !attribute(range, attributes[i], data[i])) {
			attribute_of_nothing(attributes[i], data[i]);
			continue;
		}
		if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
		    attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER)
			*(CUdeviceptr *)data[i] += ptr - range->base;
	}
	return CUDA_SUCCESS;
}

SIM_API(cuPointerSetAttribute, (const void *value, CUpointer_attribute attribute_, CUdeviceptr ptr),
	(value, attribute_, ptr))
{
	if (!value || attribute_ != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !sim_range_find(ptr))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

SIM_API(cuMemGetAddressRange_v2, (CUdeviceptr * pbase, size_t *psize, CUdeviceptr dptr),
	(pbase, psize, dptr))
{
	SIM_CURRENT(ctx);
	struct sim_range *range = sim_range_find(dptr);

	(void)ctx;
	if (!range)
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = range->base;
	if (psize)
		*psize = range->bytes;
	return CUDA_SUCCESS;
}

SIM_API(cuMemGetAddressRange, (CUdeviceptr_v1 * pbase, unsigned int *psize, CUdeviceptr_v1 dptr),
	(pbase, psize, dptr))
{
	CUdeviceptr base = 0;
	size_t size = 0;
	CUresult rc = do_cuMemGetAddressRange_v2(&base, &size, dptr);

	if (rc == CUDA_SUCCESS && pbase)
		*pbase = (CUdeviceptr_v1)base;
	if (rc == CUDA_SUCCESS && psize)
		*psize = (unsigned int)size;
	return rc;
}
