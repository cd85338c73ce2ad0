/*
 * Contexts: creation, each thread's stack of current contexts, limits, and what the end of a
 * context frees (linear and host memory, arrays, modules, streams, events, texture objects; not
 * pool, graph or VMM memory). Primary contexts are in driver_primary.c.
 */
#include <stdlib.h>

#include "driver_context.h"

static struct sim_context *contexts;
static unsigned int next_id;

struct sim_context *sim_top(void)
{
	return sim_self.depth ? sim_self.contexts[sim_self.depth - 1] : NULL;
}

CUresult sim_current(struct sim_context **ctx)
{
	*ctx = sim_top();
	if (!*ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return (*ctx)->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* Destroyed contexts keep their memory, so that a stale handle is always recognised. */
static struct sim_context *known(CUcontext handle)
{
	struct sim_context *ctx = contexts;

	while (ctx && ctx != (struct sim_context *)handle)
		ctx = ctx->next;
	return ctx;
}

struct sim_context *sim_context(CUcontext handle)
{
	struct sim_context *ctx = known(handle);

	return ctx && ctx->alive ? ctx : NULL;
}

/* A primary context that was reset can be made current: using it then is what fails. */
static struct sim_context *usable(CUcontext handle)
{
	struct sim_context *ctx = known(handle);

	return ctx && (ctx->alive || ctx->primary) ? ctx : NULL;
}

static void tell_tool(struct sim_context *ctx, int created)
{
	const struct gmtsim_tool *tool = sim_tool();

	if (!tool || !tool->context)
		return;
	sim_unlock();
	tool->context((CUcontext)ctx, created);
	sim_lock();
}

CUresult sim_context_open(struct sim_context *ctx, struct sim_device *device, unsigned int flags)
{
	if (!sim_charge(device, sim_config()->context_bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->device = device;
	ctx->flags = flags;
	ctx->charged = sim_config()->context_bytes;
	ctx->stack_charged = 0;
	ctx->streams_charged = 0;
	ctx->nr_streams = 0;
	ctx->limits[CU_LIMIT_STACK_SIZE] = SIM_STACK_DEFAULT;
	ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752;
	ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
	ctx->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
	ctx->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
	ctx->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128;
	ctx->alive = true;
	tell_tool(ctx, 1);
	return CUDA_SUCCESS;
}

struct sim_context *sim_context_new(bool primary)
{
	struct sim_context *ctx = sim_object_new(sizeof(*ctx), SIM_CONTEXT, NULL);

	if (!ctx)
		return NULL;
	ctx->primary = primary;
	ctx->id = ++next_id;
	ctx->api_version = 3020;
	ctx->next = contexts;
	contexts = ctx;
	return ctx;
}

static void free_contents(struct sim_context *ctx)
{
	struct sim_range *range;
	void *object;

	while ((object = sim_object_any(SIM_TEXTURE, ctx)))
		sim_object_free(object);
	while ((object = sim_object_any(SIM_SURFACE, ctx)))
		sim_object_free(object);
	while ((object = sim_object_any(SIM_MIPMAP, ctx)))
		sim_mipmap_destroy(object, true);
	while ((object = sim_object_any(SIM_ARRAY, ctx)))
		sim_array_destroy(object, true);
	while ((object = sim_object_any(SIM_EXTERNAL_MEMORY, ctx)))
		sim_external_destroy(object);
	while ((object = sim_object_any(SIM_EXTERNAL_SEMAPHORE, ctx)))
		sim_object_free(object);
	while ((object = sim_object_any(SIM_LINK, ctx)))
		sim_link_destroy(object);
	while ((object = sim_object_any(SIM_MODULE, ctx)))
		sim_module_destroy(object);
	while ((object = sim_object_any(SIM_EVENT, ctx)))
		sim_event_destroy(object);
	while ((object = sim_object_any(SIM_STREAM, ctx)))
		sim_stream_destroy(object);
	range = sim_range_of(ctx);
	while (range) {
		struct sim_range *next = range->next;

		sim_range_reclaim(range);
		range = next;
	}
}

void sim_context_close(struct sim_context *ctx)
{
	tell_tool(ctx, 0);
	free_contents(ctx);
	sim_uncharge(ctx->device, ctx->charged + ctx->stack_charged + ctx->streams_charged);
	ctx->legacy = NULL;
	ctx->per_thread = NULL;
	ctx->peers = 0;
	ctx->alive = false;
	if (!ctx->primary)
		sim_object_retire(ctx);
}

static bool push(struct sim_context *ctx)
{
	if (sim_self.depth == sizeof(sim_self.contexts) / sizeof(sim_self.contexts[0]))
		return false;
	sim_self.contexts[sim_self.depth++] = ctx;
	return true;
}

static CUresult create(CUcontext *pctx, unsigned int flags, CUdevice dev, unsigned int version)
{
	struct sim_device *device = sim_device(dev);
	struct sim_context *ctx;
	CUresult rc;

	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = sim_context_new(false);
	if (!ctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	rc = sim_context_open(ctx, device, flags);
	if (rc != CUDA_SUCCESS)
		return rc;
	ctx->api_version = version;
	ctx->refs = 1;
	push(ctx);
	*pctx = (CUcontext)ctx;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxCreate, (CUcontext * pctx, unsigned int flags, CUdevice dev), (pctx, flags, dev))
{
	return create(pctx, flags, dev, 3010);
}

SIM_API(cuCtxCreate_v2, (CUcontext * pctx, unsigned int flags, CUdevice dev), (pctx, flags, dev))
{
	return create(pctx, flags, dev, 3020);
}

SIM_API(cuCtxCreate_v3,
	(CUcontext * pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
	 CUdevice dev),
	(pctx, paramsArray, numParams, flags, dev))
{
	(void)paramsArray;
	return numParams < 0 ? CUDA_ERROR_INVALID_VALUE : create(pctx, flags, dev, 3020);
}

SIM_API(cuCtxCreate_v4,
	(CUcontext * pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev),
	(pctx, ctxCreateParams, flags, dev))
{
	(void)ctxCreateParams;
	return create(pctx, flags, dev, 3020);
}

SIM_API(cuCtxDestroy_v2, (CUcontext ctx), (ctx))
{
	struct sim_context *context = sim_context(ctx);

	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	if (context->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_context_close(context);
	if (sim_top() == context)
		sim_self.depth--;
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuCtxDestroy, cuCtxDestroy_v2, (CUcontext ctx), (ctx));

SIM_API(cuCtxAttach, (CUcontext * pctx, unsigned int flags), (pctx, flags))
{
	SIM_CURRENT(ctx);

	if (!pctx || flags)
		return CUDA_ERROR_INVALID_VALUE;
	ctx->refs++;
	*pctx = (CUcontext)ctx;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxDetach, (CUcontext ctx), (ctx))
{
	struct sim_context *context = sim_context(ctx);

	if (!context || context->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	return --context->refs ? CUDA_SUCCESS : do_cuCtxDestroy_v2(ctx);
}

SIM_API(cuCtxPushCurrent_v2, (CUcontext ctx), (ctx))
{
	struct sim_context *context = usable(ctx);

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	return push(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_SAME(cuCtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext ctx), (ctx));

SIM_API(cuCtxPopCurrent_v2, (CUcontext * pctx), (pctx))
{
	if (!sim_self.depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = (CUcontext)sim_top();
	sim_self.depth--;
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuCtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * pctx), (pctx));

SIM_API(cuCtxSetCurrent, (CUcontext ctx), (ctx))
{
	struct sim_context *context = usable(ctx);

	if (ctx && !context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (sim_self.depth)
		sim_self.depth--;
	if (ctx)
		push(context);
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetCurrent, (CUcontext * pctx), (pctx))
{
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = (CUcontext)sim_top();
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice, (CUdevice * device), (device))
{
	struct sim_context *ctx = sim_top();

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ctx->device->ordinal;
	return CUDA_SUCCESS;
}

SIM_API(cuCtxGetDevice_v2, (CUdevice * device, CUcontext ctx), (device, ctx))
{
	struct sim_context *context = ctx ? sim_context(ctx) : sim_top();

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = context->device->ordinal;
	return CUDA_SUCCESS;
}

static CUresult synchronize(struct sim_context *ctx)
{
	CUresult rc = sim_capture_forbids();

	if (rc != CUDA_SUCCESS)
		return rc;
	sim_wait_until(ctx->busy_until_ns);
	sim_pools_settle(ctx->device);
	return CUDA_SUCCESS;
}

/* By hand: an entry without parameters has no struct of them. */
CUresult cuCtxSynchronize(void)
{
	struct sim_frame frame = { .call = { .name = "cuCtxSynchronize" } };
	CUresult rc = sim_enter(&frame, 0);
	struct sim_context *ctx;

	if (rc == CUDA_SUCCESS)
		rc = sim_current(&ctx);
	if (rc == CUDA_SUCCESS)
		rc = synchronize(ctx);
	return sim_leave(&frame, rc);
}

SIM_API(cuCtxSynchronize_v2, (CUcontext ctx), (ctx))
{
	struct sim_context *context = ctx ? sim_context(ctx) : sim_top();

	if (!context || !context->alive)
		return CUDA_ERROR_INVALID_CONTEXT;
	return synchronize(context);
}
