/* Events: a moment of a stream's simulated time. They take no device memory, as measured. */
#include <stdlib.h>

#include "driver.h"

SIM_API(cuEventCreate, (CUevent * phEvent, unsigned int Flags), (phEvent, Flags))
{
	SIM_CURRENT(ctx);
	struct sim_event *event;

	if (!phEvent || Flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	event = sim_object_new(sizeof(*event), SIM_EVENT, ctx);
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = Flags;
	*phEvent = (CUevent)event;
	return CUDA_SUCCESS;
}

void sim_event_destroy(struct sim_event *event)
{
	free(event->deps);
	sim_object_free(event);
}

SIM_API(cuEventDestroy_v2, (CUevent hEvent), (hEvent))
{
	SIM_FIND(event, sim_event, hEvent, SIM_EVENT);

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_event_destroy(event);
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuEventDestroy, cuEventDestroy_v2, (CUevent hEvent), (hEvent));

static CUresult record(CUevent handle, CUstream stream_handle, unsigned int flags)
{
	SIM_FIND(event, sim_event, handle, SIM_EVENT);
	struct sim_stream *stream;
	CUresult rc = sim_stream_for_work(stream_handle, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->object.context != stream->object.context)
		return CUDA_ERROR_INVALID_HANDLE;
	event->capture = NULL;
	if (stream->capture && flags & CU_EVENT_RECORD_EXTERNAL) {
		struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event };

		return sim_submit(stream, &work);
	}
	if (stream->capture) {
		/* Nothing runs: the event stands for the captured work so far. */
		if (!sim_deps_set(&event->deps, &event->nr_deps, stream->deps, stream->nr_deps))
			return CUDA_ERROR_OUT_OF_MEMORY;
		event->capture = stream->capture;
		return CUDA_SUCCESS;
	}
	event->recorded = true;
	event->time_ns = sim_now_ns();
	if (stream->busy_until_ns > event->time_ns)
		event->time_ns = stream->busy_until_ns;
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuEventRecord, _ptsz, (CUevent hEvent, CUstream hStream), (hEvent, hStream))
{
	return record(hEvent, hStream, 0);
}

SIM_API_TWIN(cuEventRecordWithFlags, _ptsz, (CUevent hEvent, CUstream hStream, unsigned int flags),
	     (hEvent, hStream, flags))
{
	return flags & ~1u ? CUDA_ERROR_INVALID_VALUE : record(hEvent, hStream, flags);
}

/* Asking about an event of a capture spoils it; after the capture it is no event to ask about. */
static CUresult usable(struct sim_event *event)
{
	CUresult rc = sim_capture_forbids();

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!event->capture)
		return rc;
	if (event->capture->ended)
		return CUDA_ERROR_INVALID_VALUE;
	event->capture->invalid = true;
	return CUDA_ERROR_CAPTURED_EVENT;
}

SIM_API(cuEventQuery, (CUevent hEvent), (hEvent))
{
	SIM_FIND(event, sim_event, hEvent, SIM_EVENT);
	CUresult rc = usable(event);

	if (rc != CUDA_SUCCESS)
		return rc;
	return event->time_ns > sim_now_ns() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

SIM_API(cuEventSynchronize, (CUevent hEvent), (hEvent))
{
	SIM_FIND(event, sim_event, hEvent, SIM_EVENT);
	CUresult rc = usable(event);

	if (rc != CUDA_SUCCESS)
		return rc;
	sim_pools_settle(event->object.context->device);
	sim_wait_until(event->time_ns);
	return CUDA_SUCCESS;
}

SIM_API(cuEventElapsedTime_v2, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
	(pMilliseconds, hStart, hEnd))
{
	SIM_FIND(start, sim_event, hStart, SIM_EVENT);
	SIM_FIND(end, sim_event, hEnd, SIM_EVENT);

	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	if (!start || !end || !start->recorded || !end->recorded ||
	    (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	if (end->time_ns > sim_now_ns())
		return CUDA_ERROR_NOT_READY;
	*pMilliseconds = (float)((double)(int64_t)(end->time_ns - start->time_ns) / 1e6);
	return CUDA_SUCCESS;
}

SIM_API_SAME(cuEventElapsedTime, cuEventElapsedTime_v2,
	     (float *pMilliseconds, CUevent hStart, CUevent hEnd), (pMilliseconds, hStart, hEnd));

SIM_API_TWIN(cuStreamWaitEvent, _ptsz, (CUstream hStream, CUevent hEvent, unsigned int Flags),
	     (hStream, hEvent, Flags))
{
	SIM_FIND(event, sim_event, hEvent, SIM_EVENT);
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->capture && event->capture->ended)
		return CUDA_ERROR_INVALID_VALUE;
	if (event->capture) {
		/* The waiting stream joins the capture. */
		if (stream->capture && stream->capture != event->capture)
			return CUDA_ERROR_STREAM_CAPTURE_MERGE;
		stream->capture = event->capture;
		for (size_t i = 0; i < event->nr_deps; i++)
			if (!sim_deps_add(&stream->deps, &stream->nr_deps, event->deps[i]))
				return CUDA_ERROR_OUT_OF_MEMORY;
		return CUDA_SUCCESS;
	}
	if (stream->capture) {
		struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = event };

		if (!(Flags & CU_EVENT_WAIT_EXTERNAL))
			return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
		return sim_submit(stream, &work);
	}
	if (event->time_ns > stream->busy_until_ns)
		stream->busy_until_ns = event->time_ns;
	return CUDA_SUCCESS;
}
