/*
 * Inter-process sharing. A memory handle names a piece of the shared file behind its device, and
 * opening it maps that piece again: in this process, or in another one that may look into ours
 * through /proc. The same handle opened again is the same address with one more user. An event
 * handle names an event of this process only.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

#define MAGIC 0x676d7473696d6d65u /* "gmtsimme" */

struct memory_name {
	uint64_t magic;
	int32_t pid, fd;
	int32_t device;
	uint32_t unused;
	uint64_t offset, bytes; /* of the block in the file */
};

struct event_name {
	uint64_t magic;
	int32_t pid;
	CUevent event;
};

/* What is open, so that the next open finds it. The mapping starts on a page, the block need not.
 */
struct opened {
	struct opened *next;
	struct sim_context *context;
	struct memory_name name;
	void *mapping;
	size_t mapped_bytes;
	uintptr_t base;
	unsigned int users;
};

static struct opened *all_opened;

_Static_assert(sizeof(struct memory_name) <= sizeof(CUipcMemHandle), "must fit");
_Static_assert(sizeof(struct event_name) <= sizeof(CUipcEventHandle), "must fit");

SIM_API(cuIpcGetMemHandle, (CUipcMemHandle * pHandle, CUdeviceptr dptr), (pHandle, dptr))
{
	struct sim_range *range = sim_range_find(dptr);
	struct memory_name name = { .magic = MAGIC, .pid = getpid() };
	struct sim_space *space;

	/* An address inside names the whole block. */
	if (!pHandle || !range || range->kind != SIM_KIND_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	space = sim_space_holds(&range->device->low_space, (void *)range->base)
			? &range->device->low_space
			: &range->device->space;
	name.fd = space->fd;
	name.device = range->device->ordinal;
	name.offset = range->base - (uintptr_t)space->mapping;
	name.bytes = range->bytes;
	memset(pHandle, 0, sizeof(*pHandle));
	memcpy(pHandle, &name, sizeof(name));
	return CUDA_SUCCESS;
}

static bool map_block(struct opened *opened)
{
	size_t shift = opened->name.offset % (size_t)sysconf(_SC_PAGESIZE);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", opened->name.pid, opened->name.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	opened->mapped_bytes = opened->name.bytes + shift;
	opened->mapping =
		mmap(NULL, opened->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		     fd, (off_t)(opened->name.offset - shift));
	close(fd);
	opened->base = (uintptr_t)opened->mapping + shift;
	return opened->mapping != MAP_FAILED;
}

static CUresult open_memory(CUdeviceptr *pdptr, const CUipcMemHandle *handle)
{
	SIM_CURRENT(ctx);
	struct sim_range range = { .kind = SIM_KIND_IMPORTED, .context = ctx };
	struct opened *opened = all_opened;
	struct memory_name name;

	memcpy(&name, handle, sizeof(name));
	range.device = sim_device(name.device);
	if (!pdptr || name.magic != MAGIC || !range.device)
		return CUDA_ERROR_INVALID_VALUE;
	while (opened && (opened->context != ctx || memcmp(&opened->name, &name, sizeof(name))))
		opened = opened->next;
	if (!opened) {
		opened = calloc(1, sizeof(*opened));
		if (!opened)
			return CUDA_ERROR_OUT_OF_MEMORY;
		opened->context = ctx;
		opened->name = name;
		range.bytes = name.bytes;
		if (!map_block(opened)) {
			free(opened);
			return CUDA_ERROR_MAP_FAILED;
		}
		range.base = opened->base;
		if (!sim_range_add(&range))
			return CUDA_ERROR_OUT_OF_MEMORY;
		opened->next = all_opened;
		all_opened = opened;
		sim_stat_alloc(range.device, SIM_KIND_IMPORTED, name.bytes);
	}
	opened->users++;
	*pdptr = opened->base;
	return CUDA_SUCCESS;
}

static struct opened **link_of(uintptr_t base)
{
	struct opened **link = &all_opened;

	while (*link && (*link)->base != base)
		link = &(*link)->next;
	return link;
}

void sim_ipc_unmap(const struct sim_range *range)
{
	struct opened **link = link_of(range->base), *opened = *link;

	*link = opened->next;
	munmap(opened->mapping, opened->mapped_bytes);
	free(opened);
}

SIM_API(cuIpcOpenMemHandle_v2, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags),
	(pdptr, handle, Flags))
{
	return open_memory(pdptr, &handle);
}

SIM_API(cuIpcOpenMemHandle, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags),
	(pdptr, handle, Flags))
{
	return open_memory(pdptr, &handle);
}

SIM_API(cuIpcCloseMemHandle, (CUdeviceptr dptr), (dptr))
{
	SIM_CURRENT(ctx);
	struct sim_range *range = sim_range_at(dptr, SIM_KIND_IMPORTED);

	(void)ctx;
	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	if (--(*link_of(dptr))->users)
		return CUDA_SUCCESS;
	sim_ipc_unmap(range);
	sim_stat_free(range->device, SIM_KIND_IMPORTED, range->bytes);
	sim_range_remove(range);
	return CUDA_SUCCESS;
}

SIM_API(cuIpcGetEventHandle, (CUipcEventHandle * pHandle, CUevent event), (pHandle, event))
{
	SIM_FIND(found, sim_event, event, SIM_EVENT);
	struct event_name name = { .magic = MAGIC, .pid = getpid(), .event = event };

	if (!pHandle || !found || !(found->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	memset(pHandle, 0, sizeof(*pHandle));
	memcpy(pHandle, &name, sizeof(name));
	return CUDA_SUCCESS;
}

/* A new event in the state of the other at this moment. */
SIM_API(cuIpcOpenEventHandle, (CUevent * phEvent, CUipcEventHandle handle), (phEvent, handle))
{
	SIM_CURRENT(ctx);
	struct sim_event *event, *origin;
	struct event_name name;

	memcpy(&name, &handle, sizeof(name));
	origin = name.pid == getpid() ? sim_object_find(name.event, SIM_EVENT) : NULL;
	if (!phEvent || name.magic != MAGIC || !origin)
		return CUDA_ERROR_INVALID_VALUE;
	event = sim_object_new(sizeof(*event), SIM_EVENT, ctx);
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = origin->flags;
	event->recorded = origin->recorded;
	event->time_ns = origin->time_ns;
	*phEvent = (CUevent)event;
	return CUDA_SUCCESS;
}
