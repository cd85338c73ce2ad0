/*
 * Memory of graph allocation nodes. The address is fixed when the node is made; memory is bound at
 * a launch, in 32 MiB chunks. It is live until it is freed, by a node or by cuMemFree*, and its
 * chunks stay the device's, through frees and the end of the graph, until cuDeviceGraphMemTrim.
 *
 *	node made        launch            free               trim
 *	 address  ──────> live, reserved ──> reserved ────────> address (or nothing: the node is
 *gone)
 */
#include <stdlib.h>

#include "driver.h"

struct sim_graph_block *sim_graph_block_new(struct sim_device *device, size_t bytes)
{
	struct sim_chunks *chunks = &device->graph_chunks;
	struct sim_graph_block *block;

	if (!chunks->device && !sim_chunks_open(chunks, device))
		return NULL;
	block = calloc(1, sizeof(*block));
	if (!block)
		return NULL;
	block->device = device;
	block->bytes = bytes;
	block->addr = sim_chunks_place(chunks, bytes);
	if (!block->addr) {
		free(block);
		return NULL;
	}
	block->refs = 1;
	block->next = device->graph_blocks;
	device->graph_blocks = block;
	return block;
}

/* Nobody owns it and nothing is in it: the address goes back. */
static void drop_if_dead(struct sim_graph_block *block)
{
	struct sim_graph_block **link = &block->device->graph_blocks;

	if (block->refs || block->live)
		return;
	while (*link != block)
		link = &(*link)->next;
	*link = block->next;
	sim_chunks_unplace(&block->device->graph_chunks, block->addr, block->bytes);
	free(block);
}

void sim_graph_block_unref(struct sim_graph_block *block)
{
	block->refs--;
	drop_if_dead(block);
}

CUresult sim_graph_block_alloc(struct sim_graph_block *block)
{
	struct sim_range range = { .base = (uintptr_t)block->addr,
				   .bytes = block->bytes,
				   .kind = SIM_KIND_GRAPH,
				   .device = block->device,
				   .block = block };

	if (block->live)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_oom_injected(block->bytes) ||
	    !sim_chunks_bind(&block->device->graph_chunks, block->addr, block->bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!sim_range_add(&range))
		return CUDA_ERROR_OUT_OF_MEMORY;
	block->live = true;
	sim_stat_alloc(block->device, SIM_KIND_GRAPH, block->bytes);
	return CUDA_SUCCESS;
}

void sim_graph_block_free(struct sim_range *range)
{
	struct sim_graph_block *block = range->block;

	block->live = false;
	sim_chunks_unbind(&block->device->graph_chunks, block->addr, block->bytes);
	sim_stat_free(block->device, SIM_KIND_GRAPH, block->bytes);
	sim_range_remove(range);
	drop_if_dead(block);
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

	if (!found)
		return CUDA_ERROR_INVALID_DEVICE;
	if (found->graph_chunks.device)
		sim_chunks_trim(&found->graph_chunks, 0);
	return CUDA_SUCCESS;
}

/* Used is what is reserved: the real driver counts whole chunks, and forgets them at a trim. */
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
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = found->graph_chunks.reserved;
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = found->graph_chunks.reserved_high;
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
	if (!value || *(cuuint64_t *)value ||
	    (attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
	     attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
		return CUDA_ERROR_INVALID_VALUE;
	found->graph_chunks.reserved_high = found->graph_chunks.reserved;
	return CUDA_SUCCESS;
}
