/*
 * Inter-process sharing. The same memory handle opened again by the same context is the same
 * address with one more user. Unlike the real driver, a process may open its own handles, so that
 * one process is enough for a test. An event handle names an event of this process only.
 */
#include <string.h>
#include <unistd.h>

#include "driver_import.h"

#define EVENT_MAGIC 0x676d7473696d6576u /* "gmtsimev" */

struct event_name {
	uint64_t magic;
	int32_t pid;
	CUevent event;
};

_Static_assert(sizeof(struct sim_piece) <= sizeof(CUipcMemHandle), "must fit");
_Static_assert(sizeof(struct event_name) <= sizeof(CUipcEventHandle), "must fit");

SIM_API(cuIpcGetMemHandle, (CUipcMemHandle * pHandle, CUdeviceptr dptr), (pHandle, dptr))
{
	struct sim_range *range = sim_range_find(dptr);
	struct sim_piece piece;

	/* An address inside names the whole block. */
	if (!pHandle || !range || range->kind != SIM_KIND_DEVICE || !sim_piece_of(range, &piece))
		return CUDA_ERROR_INVALID_VALUE;
	memset(pHandle, 0, sizeof(*pHandle));
	memcpy(pHandle, &piece, sizeof(piece));
	return CUDA_SUCCESS;
}

static CUresult open_memory(CUdeviceptr *pdptr, const CUipcMemHandle *handle)
{
	SIM_CURRENT(ctx);
	struct sim_import *import;
	struct sim_piece piece;

	memcpy(&piece, handle, sizeof(piece));
	if (!pdptr || !sim_piece_is_valid(&piece))
		return CUDA_ERROR_INVALID_VALUE;
	import = sim_import_find(&piece, ctx);
	if (!import)
		return sim_import_add(SIM_IMPORT_IPC, &piece, ctx, pdptr);
	import->users++;
	*pdptr = import->base;
	return CUDA_SUCCESS;
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
	if (!range || range->import->kind != SIM_IMPORT_IPC)
		return CUDA_ERROR_INVALID_VALUE;
	if (--range->import->users)
		return CUDA_SUCCESS;
	sim_import_unmap(range->import);
	sim_stat_free(range->device, SIM_KIND_IMPORTED, range->bytes);
	sim_range_remove(range);
	return CUDA_SUCCESS;
}

SIM_API(cuIpcGetEventHandle, (CUipcEventHandle * pHandle, CUevent event), (pHandle, event))
{
	SIM_FIND(found, sim_event, event, SIM_EVENT);
	struct event_name name = { .magic = EVENT_MAGIC, .pid = getpid(), .event = event };

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
	if (!phEvent || name.magic != EVENT_MAGIC || !origin)
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
