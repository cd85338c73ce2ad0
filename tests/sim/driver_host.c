/* Pinned host memory: allocated here, or the program's own that it registers. */
#include <sys/mman.h>

#include "driver.h"

static CUresult allocate(void **pp, size_t bytes, unsigned int flags)
{
	struct sim_range range = { .bytes = bytes, .kind = SIM_KIND_PINNED, .flags = flags };
	struct sim_context *ctx;
	CUresult rc;
	void *addr;

	if (!pp || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	*pp = NULL;
	rc = sim_current(&ctx);
	if (rc == CUDA_SUCCESS)
		rc = sim_capture_forbids();
	if (rc != CUDA_SUCCESS || !bytes)
		return rc; /* nothing of nothing is a success, and NULL */
	range.device = ctx->device;
	range.context = ctx;
	if (sim_oom_injected(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range.base = (uintptr_t)addr;
	if (!sim_range_add(&range)) {
		munmap(addr, bytes);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_stat_alloc(ctx->device, SIM_KIND_PINNED, bytes);
	*pp = addr;
	return CUDA_SUCCESS;
}

SIM_API(cuMemAllocHost_v2, (void **pp, size_t bytesize), (pp, bytesize))
{
	return allocate(pp, bytesize, 0);
}

SIM_API(cuMemAllocHost, (void **pp, unsigned int bytesize), (pp, bytesize))
{
	return allocate(pp, bytesize, 0);
}

SIM_API(cuMemHostAlloc, (void **pp, size_t bytesize, unsigned int Flags), (pp, bytesize, Flags))
{
	return allocate(pp, bytesize, Flags);
}

SIM_API(cuMemFreeHost, (void *p), (p))
{
	SIM_CURRENT(ctx);
	struct sim_range *range = sim_range_at((uintptr_t)p, SIM_KIND_PINNED);
	CUresult rc = sim_capture_forbids();

	(void)ctx;
	if (rc != CUDA_SUCCESS || !p)
		return rc;
	if (!range)
		return CUDA_ERROR_INVALID_VALUE;
	sim_stat_free(range->device, range->kind, range->bytes);
	munmap(p, range->bytes);
	sim_range_remove(range);
	return CUDA_SUCCESS;
}

static CUresult enroll(void *p, size_t bytes, unsigned int flags)
{
	SIM_CURRENT(ctx);
	struct sim_range range = { .base = (uintptr_t)p,
				   .bytes = bytes,
				   .kind = SIM_KIND_REGISTERED,
				   .device = ctx->device,
				   .context = ctx,
				   .flags = flags };
	CUresult rc = sim_capture_forbids();

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!p || !bytes || flags & ~0xfu)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_oom_injected(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* The tree refuses a range that overlaps one it has. */
	if (!sim_range_add(&range))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	sim_stat_alloc(ctx->device, SIM_KIND_REGISTERED, bytes);
	return CUDA_SUCCESS;
}

SIM_API(cuMemHostRegister_v2, (void *p, size_t bytesize, unsigned int Flags), (p, bytesize, Flags))
{
	return enroll(p, bytesize, Flags);
}

SIM_API(cuMemHostRegister, (void *p, size_t bytesize, unsigned int Flags), (p, bytesize, Flags))
{
	return enroll(p, bytesize, Flags);
}

SIM_API(cuMemHostUnregister, (void *p), (p))
{
	SIM_CURRENT(ctx);
	struct sim_range *range = sim_range_find((uintptr_t)p);
	CUresult rc = sim_capture_forbids();

	(void)ctx;
	if (rc != CUDA_SUCCESS)
		return rc;
	if (!range || range->kind != SIM_KIND_REGISTERED)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	if (range->base != (uintptr_t)p)
		return CUDA_ERROR_INVALID_VALUE;
	sim_stat_free(range->device, range->kind, range->bytes);
	sim_range_remove(range);
	return CUDA_SUCCESS;
}

static struct sim_range *host_range(const void *p)
{
	struct sim_range *range = sim_range_find((uintptr_t)p);

	return range && (range->kind == SIM_KIND_PINNED || range->kind == SIM_KIND_REGISTERED)
		       ? range
		       : NULL;
}

SIM_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr * pdptr, void *p, unsigned int Flags),
	(pdptr, p, Flags))
{
	SIM_CURRENT(ctx);

	(void)ctx;
	if (!pdptr || Flags || !host_range(p))
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (CUdeviceptr)p; /* unified addressing */
	return CUDA_SUCCESS;
}

SIM_API(cuMemHostGetDevicePointer, (CUdeviceptr_v1 * pdptr, void *p, unsigned int Flags),
	(pdptr, p, Flags))
{
	CUdeviceptr addr = 0;
	CUresult rc = do_cuMemHostGetDevicePointer_v2(pdptr ? &addr : NULL, p, Flags);

	if (rc == CUDA_SUCCESS && addr > UINT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (rc == CUDA_SUCCESS)
		*pdptr = (CUdeviceptr_v1)addr;
	return rc;
}

SIM_API(cuMemHostGetFlags, (unsigned int *pFlags, void *p), (pFlags, p))
{
	struct sim_range *range = host_range(p);

	if (!pFlags || !range)
		return CUDA_ERROR_INVALID_VALUE;
	*pFlags = range->flags | CU_MEMHOSTALLOC_DEVICEMAP;
	return CUDA_SUCCESS;
}
