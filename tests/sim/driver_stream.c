/*
 * Streams. Work runs at the call, in order, on the calling thread; its duration is simulated: a
 * stream is busy until some moment, queries say so, and synchronisation sleeps until then.
 */
#include <stdlib.h>
#include <time.h>

#include "driver.h"

static unsigned int next_id;

uint64_t sim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sim_wait_until(uint64_t time_ns)
{
	struct timespec until = { (time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000) };

	if (time_ns <= sim_now_ns())
		return;
	sim_unlock();
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
	sim_lock();
}

static struct sim_stream *new_stream(struct sim_context *ctx)
{
	struct sim_stream *stream = sim_object_new(sizeof(*stream), SIM_STREAM, ctx);

	if (stream)
		stream->id = ++next_id;
	return stream;
}

static struct sim_stream *legacy_stream(struct sim_context *ctx)
{
	if (!ctx->legacy)
		ctx->legacy = new_stream(ctx);
	return ctx->legacy;
}

static struct sim_stream *own_stream(struct sim_context *ctx)
{
	struct sim_stream *stream = ctx->per_thread;

	while (stream && stream->thread != sim_self.id)
		stream = stream->next;
	if (stream)
		return stream;
	stream = new_stream(ctx);
	if (stream) {
		stream->thread = sim_self.id;
		stream->next = ctx->per_thread;
		ctx->per_thread = stream;
	}
	return stream;
}

CUresult sim_stream(CUstream handle, struct sim_stream **stream)
{
	SIM_CURRENT(ctx);

	if (!handle)
		handle = sim_self.per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	if (handle == CU_STREAM_LEGACY)
		*stream = legacy_stream(ctx);
	else if (handle == CU_STREAM_PER_THREAD)
		*stream = own_stream(ctx);
	else
		*stream = sim_object_find(handle, SIM_STREAM);
	return *stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_stream_for_work(CUstream handle, struct sim_stream **stream)
{
	CUresult rc = sim_stream(handle, stream);

	if (rc != CUDA_SUCCESS || *stream != (*stream)->object.context->legacy)
		return rc;
	return sim_capture_forbids_legacy((*stream)->object.context);
}

/* More streams at once than ever before may need one more page. */
static bool charge(struct sim_context *ctx)
{
	uint64_t bytes =
		sim_round(ctx->nr_streams, SIM_STREAMS_PER_PAGE) / SIM_STREAMS_PER_PAGE * SIM_PAGE;

	if (bytes <= ctx->streams_charged)
		return true;
	if (!sim_charge(ctx->device, bytes - ctx->streams_charged))
		return false;
	ctx->streams_charged = bytes;
	return true;
}

static CUresult create(CUstream *out, unsigned int flags, int priority)
{
	SIM_CURRENT(ctx);
	struct sim_stream *stream;

	if (!out || flags & ~(unsigned int)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	stream = charge(ctx) ? new_stream(ctx) : NULL;
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->nr_streams++;
	stream->created = true;
	stream->flags = flags;
	stream->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
	*out = (CUstream)stream;
	return CUDA_SUCCESS;
}

SIM_API(cuStreamCreate, (CUstream * phStream, unsigned int Flags), (phStream, Flags))
{
	return create(phStream, Flags, 0);
}

SIM_API(cuStreamCreateWithPriority, (CUstream * phStream, unsigned int flags, int priority),
	(phStream, flags, priority))
{
	return create(phStream, flags, priority);
}

void sim_stream_destroy(struct sim_stream *stream)
{
	struct sim_context *ctx = stream->object.context;
	struct sim_stream **link = &ctx->per_thread;

	while (*link && *link != stream)
		link = &(*link)->next;
	if (*link)
		*link = stream->next;
	if (ctx->legacy == stream)
		ctx->legacy = NULL;
	ctx->nr_streams -= stream->created;
	sim_capture_leave(stream);
	free(stream->deps);
	sim_object_free(stream);
}

SIM_API(cuStreamDestroy_v2, (CUstream hStream), (hStream))
{
	SIM_FIND(stream, sim_stream, hStream, SIM_STREAM);

	if (!stream || !stream->created)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_stream_destroy(stream);
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuStreamDestroy, cuStreamDestroy_v2, (CUstream hStream), (hStream));

/* Waiting spoils the capture of this stream, or one that forbids waiting. */
static CUresult refuse_capture(struct sim_stream *stream)
{
	if (!stream->capture)
		return sim_capture_forbids();
	stream->capture->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

SIM_API_TWIN(cuStreamSynchronize, _ptsz, (CUstream hStream), (hStream))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS)
		rc = refuse_capture(stream);
	if (rc != CUDA_SUCCESS)
		return rc;
	sim_pools_settle(stream->object.context->device);
	sim_wait_until(stream->busy_until_ns);
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuStreamQuery, _ptsz, (CUstream hStream), (hStream))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS)
		rc = refuse_capture(stream);
	if (rc != CUDA_SUCCESS)
		return rc;
	return stream->busy_until_ns > sim_now_ns() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

#define STREAM_QUESTION(name, type, out, value)                                                    \
	SIM_API_TWIN(name, _ptsz, (CUstream hStream, type * out), (hStream, out))                  \
	{                                                                                          \
		struct sim_stream *stream;                                                         \
		CUresult rc = sim_stream(hStream, &stream);                                        \
		if (rc == CUDA_SUCCESS && !out)                                                    \
			rc = CUDA_ERROR_INVALID_VALUE;                                             \
		if (rc == CUDA_SUCCESS)                                                            \
			*out = value;                                                              \
		return rc;                                                                         \
	}

STREAM_QUESTION(cuStreamGetPriority, int, priority, stream->priority)
STREAM_QUESTION(cuStreamGetFlags, unsigned int, flags, stream->flags)
STREAM_QUESTION(cuStreamGetId, unsigned long long, streamId, stream->id)
STREAM_QUESTION(cuStreamGetDevice, CUdevice, device, stream->object.context->device->ordinal)
STREAM_QUESTION(cuStreamGetCtx, CUcontext, pctx, (CUcontext)stream->object.context)

SIM_API_TWIN(cuStreamGetCtx_v2, _ptsz, (CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx),
	     (hStream, pCtx, pGreenCtx))
{
	CUresult rc = do_cuStreamGetCtx(hStream, pCtx);

	if (rc == CUDA_SUCCESS && pGreenCtx)
		*pGreenCtx = NULL;
	return rc;
}

SIM_API_TWIN(cuStreamCopyAttributes, _ptsz, (CUstream dstStream, CUstream srcStream),
	     (dstStream, srcStream))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(dstStream, &stream);

	return rc == CUDA_SUCCESS ? sim_stream(srcStream, &stream) : rc;
}

SIM_API_TWIN(cuStreamGetAttribute, _ptsz,
	     (CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value_out),
	     (hStream, attr, value_out))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS && !value_out)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == CUDA_SUCCESS)
		*value_out = (CUstreamAttrValue){ .priority = stream->priority };
	return rc;
}

SIM_API_TWIN(cuStreamSetAttribute, _ptsz,
	     (CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *value),
	     (hStream, attr, value))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS && !value)
		rc = CUDA_ERROR_INVALID_VALUE;
	return rc;
}

SIM_API_TWIN(cuLaunchHostFunc, _ptsz, (CUstream hStream, CUhostFn fn, void *userData),
	     (hStream, fn, userData))
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_HOST, .host = { fn, userData } };
	struct sim_stream *stream;
	CUresult rc = sim_stream_for_work(hStream, &stream);

	if (rc == CUDA_SUCCESS && !fn)
		rc = CUDA_ERROR_INVALID_VALUE;
	return rc == CUDA_SUCCESS ? sim_submit(stream, &work) : rc;
}

SIM_API_TWIN(cuStreamAddCallback, _ptsz,
	     (CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags),
	     (hStream, callback, userData, flags))
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS)
		rc = refuse_capture(stream);
	if (rc == CUDA_SUCCESS && (!callback || flags))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc != CUDA_SUCCESS)
		return rc;
	sim_unlock();
	callback(hStream, CUDA_SUCCESS, userData);
	sim_lock();
	return CUDA_SUCCESS;
}
