/*
 * External memory and semaphores. A file descriptor that can be mapped stands for the memory of
 * another API; importing it takes it over, as in reality. Its buffers end with cuMemFree.
 */
#include <unistd.h>

#include "driver_import.h"

struct external_memory {
	struct sim_object object;
	int fd;
	uint64_t bytes;
};

SIM_API(cuImportExternalMemory,
	(CUexternalMemory * extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc),
	(extMem_out, memHandleDesc))
{
	SIM_CURRENT(ctx);
	struct external_memory *memory;

	if (!extMem_out || !memHandleDesc || !memHandleDesc->size)
		return CUDA_ERROR_INVALID_VALUE;
	if (memHandleDesc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (lseek(memHandleDesc->handle.fd, 0, SEEK_END) < (off_t)memHandleDesc->size)
		return CUDA_ERROR_INVALID_HANDLE;
	memory = sim_object_new(sizeof(*memory), SIM_EXTERNAL_MEMORY, ctx);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory->fd = memHandleDesc->handle.fd;
	memory->bytes = memHandleDesc->size;
	*extMem_out = (CUexternalMemory)memory;
	return CUDA_SUCCESS;
}

SIM_API(cuExternalMemoryGetMappedBuffer,
	(CUdeviceptr * devPtr, CUexternalMemory extMem,
	 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc),
	(devPtr, extMem, bufferDesc))
{
	SIM_FIND(memory, external_memory, extMem, SIM_EXTERNAL_MEMORY);
	struct sim_piece piece;

	if (!devPtr || !bufferDesc || !bufferDesc->size)
		return CUDA_ERROR_INVALID_VALUE;
	if (!memory)
		return CUDA_ERROR_INVALID_HANDLE;
	if (bufferDesc->size > memory->bytes ||
	    bufferDesc->offset > memory->bytes - bufferDesc->size)
		return CUDA_ERROR_INVALID_VALUE;
	piece = (struct sim_piece){ .pid = getpid(),
				    .fd = memory->fd,
				    .device = memory->object.context->device->ordinal,
				    .offset = bufferDesc->offset,
				    .bytes = bufferDesc->size };
	return sim_import_add(SIM_IMPORT_EXTERNAL, &piece, memory->object.context, devPtr);
}

void sim_external_destroy(void *object)
{
	struct external_memory *memory = object;

	close(memory->fd);
	sim_object_free(memory);
}

SIM_API(cuDestroyExternalMemory, (CUexternalMemory extMem), (extMem))
{
	SIM_FIND(memory, external_memory, extMem, SIM_EXTERNAL_MEMORY);

	if (!memory)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_external_destroy(memory);
	return CUDA_SUCCESS;
}

SIM_API(cuImportExternalSemaphore,
	(CUexternalSemaphore * extSem_out,
	 const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc),
	(extSem_out, semHandleDesc))
{
	SIM_CURRENT(ctx);
	struct sim_object *semaphore;

	if (!extSem_out || !semHandleDesc)
		return CUDA_ERROR_INVALID_VALUE;
	semaphore = sim_object_new(sizeof(*semaphore), SIM_EXTERNAL_SEMAPHORE, ctx);
	if (!semaphore)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*extSem_out = (CUexternalSemaphore)semaphore;
	return CUDA_SUCCESS;
}

SIM_API(cuDestroyExternalSemaphore, (CUexternalSemaphore extSem), (extSem))
{
	void *semaphore = sim_object_find(extSem, SIM_EXTERNAL_SEMAPHORE);

	if (!semaphore)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_object_free(semaphore);
	return CUDA_SUCCESS;
}
