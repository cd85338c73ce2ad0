/*
 * Primary contexts, and the smaller questions about a context. The handle of a device's primary
 * context stays the same for the life of the process, through resets.
 */
#include "driver_context.h"

SIM_API(cuDevicePrimaryCtxRetain, (CUcontext * pctx, CUdevice dev), (pctx, dev))
{
	struct sim_device *device = sim_device(dev);
	CUresult rc;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device->primary)
		device->primary = sim_context_new(true);
	if (!device->primary)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!device->primary->alive) {
		rc = sim_context_open(device->primary, device, device->primary_flags);
		if (rc != CUDA_SUCCESS)
			return rc;
	}
	device->primary_refs++;
	*pctx = (CUcontext)device->primary;
	return CUDA_SUCCESS;
}

SIM_API(cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev))
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device->primary_refs)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--device->primary_refs == 0 && device->primary->alive)
		sim_context_close(device->primary);
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev));

SIM_API(cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev))
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	/* Those who retained it may still release it: the count stays. */
	if (device->primary && device->primary->alive)
		sim_context_close(device->primary);
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev));

SIM_API(cuDevicePrimaryCtxSetFlags_v2, (CUdevice dev, unsigned int flags), (dev, flags))
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	device->primary_flags = flags;
	if (device->primary)
		device->primary->flags = flags;
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,
	     (CUdevice dev, unsigned int flags), (dev, flags));

SIM_API(cuDevicePrimaryCtxGetState, (CUdevice dev, unsigned int *flags, int *active),
	(dev, flags, active))
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = device->primary_flags;
	*active = device->primary && device->primary->alive;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetFlags, (unsigned int *flags), (flags))
{
	SIM_CURRENT(ctx);

	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = ctx->flags;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxSetFlags, (unsigned int flags), (flags))
{
	SIM_CURRENT(ctx);

	ctx->flags = flags;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetId, (CUcontext ctx, unsigned long long *ctxId), (ctx, ctxId))
{
	struct sim_context *context = ctx ? sim_context(ctx) : sim_top();

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctxId)
		return CUDA_ERROR_INVALID_VALUE;
	*ctxId = context->id;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetApiVersion, (CUcontext ctx, unsigned int *version), (ctx, version))
{
	struct sim_context *context = ctx ? sim_context(ctx) : sim_top();

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = context->api_version;
	return CUDA_SUCCESS;
}

/* Each thread that can run gets the stack at once, here as on an H200. */
static CUresult charge_stack(struct sim_context *ctx, size_t stack)
{
	uint64_t bytes = 0;

	if (stack > SIM_STACK_DEFAULT)
		bytes = (uint64_t)(stack - SIM_STACK_DEFAULT) * SIM_MULTIPROCESSORS *
			SIM_SM_THREADS;
	sim_uncharge(ctx->device, ctx->stack_charged);
	if (!sim_charge(ctx->device, bytes)) {
		sim_charge(ctx->device, ctx->stack_charged);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	ctx->stack_charged = bytes;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value))
{
	SIM_CURRENT(ctx);
	CUresult rc = sim_capture_forbids();

	if (limit < 0 || limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	if (rc == CUDA_SUCCESS && limit == CU_LIMIT_STACK_SIZE)
		rc = charge_stack(ctx, value);
	if (rc == CUDA_SUCCESS)
		ctx->limits[limit] = value;
	return rc;
}

SIM_API(cuCtxGetLimit, (size_t * pvalue, CUlimit limit), (pvalue, limit))
{
	SIM_CURRENT(ctx);

	if (!pvalue)
		return CUDA_ERROR_INVALID_VALUE;
	if (limit < 0 || limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*pvalue = ctx->limits[limit];
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCacheConfig, (CUfunc_cache * pconfig), (pconfig))
{
	SIM_CURRENT(ctx);

	(void)ctx;
	if (!pconfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pconfig = CU_FUNC_CACHE_PREFER_NONE;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxSetCacheConfig, (CUfunc_cache config), (config))
{
	SIM_CURRENT(ctx);

	(void)ctx;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetSharedMemConfig, (CUsharedconfig * pConfig), (pConfig))
{
	SIM_CURRENT(ctx);

	(void)ctx;
	if (!pConfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxSetSharedMemConfig, (CUsharedconfig config), (config))
{
	SIM_CURRENT(ctx);

	(void)ctx;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetStreamPriorityRange, (int *leastPriority, int *greatestPriority),
	(leastPriority, greatestPriority))
{
	SIM_CURRENT(ctx);

	(void)ctx;
	if (leastPriority)
		*leastPriority = 0;
	if (greatestPriority)
		*greatestPriority = -5;
	return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
	struct sim_frame frame = { .call = { .name = "cuCtxResetPersistingL2Cache" } };

	return sim_leave(&frame, sim_enter(&frame, 0));
}

SIM_API(cuCtxEnablePeerAccess, (CUcontext peerContext, unsigned int Flags), (peerContext, Flags))
{
	SIM_CURRENT(ctx);
	struct sim_context *peer = sim_context(peerContext);

	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer || peer->device == ctx->device)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx->peers & 1u << peer->device->ordinal)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	ctx->peers |= 1u << peer->device->ordinal;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxDisablePeerAccess, (CUcontext peerContext), (peerContext))
{
	SIM_CURRENT(ctx);
	struct sim_context *peer = sim_context(peerContext);

	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(ctx->peers & 1u << peer->device->ordinal))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	ctx->peers &= ~(1u << peer->device->ordinal);
	return CUDA_SUCCESS;
}
