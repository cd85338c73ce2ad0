/*
 * Memory of graph allocation nodes. The address is fixed when the node is made; memory is bound at
 * the first launch. It is live from a launch until it is freed, by a node or by cuMemFree*, and
 * stays reserved on the device after that, and after its graph is gone, until
 * cuDeviceGraphMemTrim.
 *
 *	node made        launch            free           trim
 *	 address  ──────> live, reserved ──> reserved ────> address (or nothing, if the node is
 *gone)
 */
#include <stdlib.h>

#include "driver.h"

struct sim_graph_block *sim_graph_block_new(struct sim_device *device, size_t bytes)
{
	struct sim_graph_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->device = device;
	block->bytes = bytes;
	block->backing = sim_round(bytes, SIM_PAGE);
	block->addr = sim_space_reserve(&device->space, block->backing / SIM_PAGE);
	if (!block->addr) {
		free(block);
		return NULL;
	}
	block->refs = 1;
	block->next = device->graph_blocks;
	device->graph_blocks = block;
	return block;
}

static void raise(uint64_t *high, uint64_t current)
{
	if (current > *high)
		*high = current;
}

static void uncommit(struct sim_graph_block *block)
{
	struct sim_device *device = block->device;

	sim_space_uncommit(&device->space, block->addr, block->backing / SIM_PAGE);
	sim_uncharge(device, block->backing);
	device->graph_reserved -= block->backing;
	block->committed = false;
}

/* Nobody owns it, nothing is in it: the address goes back. */
static bool is_dead(const struct sim_graph_block *block)
{
	return !block->refs && !block->live && !block->committed;
}

static void drop(struct sim_graph_block *block)
{
	struct sim_graph_block **link = &block->device->graph_blocks;

	while (*link != block)
		link = &(*link)->next;
	*link = block->next;
	sim_space_give(&block->device->space, block->addr, block->backing / SIM_PAGE);
	free(block);
}

void sim_graph_block_unref(struct sim_graph_block *block)
{
	block->refs--;
	if (is_dead(block))
		drop(block);
}

CUresult sim_graph_block_alloc(struct sim_graph_block *block)
{
	struct sim_device *device = block->device;
	struct sim_range range = { .base = (uintptr_t)block->addr,
				   .bytes = block->bytes,
				   .kind = SIM_KIND_GRAPH,
				   .device = device,
				   .block = block };

	if (block->live)
		return CUDA_ERROR_INVALID_VALUE;
	if (!block->committed) {
		if (sim_oom_injected(block->bytes) || !sim_charge(device, block->backing))
			return CUDA_ERROR_OUT_OF_MEMORY;
		if (!sim_space_commit(&device->space, block->addr, block->backing / SIM_PAGE)) {
			sim_uncharge(device, block->backing);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		block->committed = true;
		device->graph_reserved += block->backing;
		raise(&device->graph_reserved_high, device->graph_reserved);
	}
	if (!sim_range_add(&range))
		return CUDA_ERROR_OUT_OF_MEMORY;
	block->live = true;
	device->graph_used += block->backing;
	raise(&device->graph_used_high, device->graph_used);
	sim_stat_alloc(device, SIM_KIND_GRAPH, block->bytes);
	return CUDA_SUCCESS;
}

void sim_graph_block_free(struct sim_range *range)
{
	struct sim_graph_block *block = range->block;

	block->live = false;
	block->device->graph_used -= block->backing;
	sim_stat_free(block->device, SIM_KIND_GRAPH, block->bytes);
	sim_range_remove(range);
}

struct sim_graph_block *sim_graph_block_at(CUdeviceptr addr)
{
	for (CUdevice d = 0; sim_device(d); d++)
		for (struct sim_graph_block *b = sim_device(d)->graph_blocks; b; b = b->next)
			if ((CUdeviceptr)b->addr == addr)
				return b;
	return NULL;
}

SIM_API(cuDeviceGraphMemTrim, (CUdevice device), (device))
{
	struct sim_device *found = sim_device(device);
	struct sim_graph_block *block, *next;

	if (!found)
		return CUDA_ERROR_INVALID_DEVICE;
	for (block = found->graph_blocks; block; block = next) {
		next = block->next;
		if (block->committed && !block->live)
			uncommit(block);
		if (is_dead(block))
			drop(block);
	}
	return CUDA_SUCCESS;
}

SIM_API(cuDeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attr, void *value),
	(device, attr, value))
{
	struct sim_device *found = sim_device(device);

	if (!found)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = found->graph_used;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = found->graph_used_high;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = found->graph_reserved;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = found->graph_reserved_high;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

SIM_API(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attr, void *value),
	(device, attr, value))
{
	struct sim_device *found = sim_device(device);

	if (!found)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value || *(cuuint64_t *)value)
		return CUDA_ERROR_INVALID_VALUE;
	if (attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		found->graph_used_high = found->graph_used;
	else if (attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		found->graph_reserved_high = found->graph_reserved;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}
