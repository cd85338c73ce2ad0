/* Streams, events and stream capture of the simulated runtime. */
#include "tests/sim/runtime.h"

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return RT_CALL(rt.cuStreamCreate(stream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	return RT_CALL(rt.cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	return RT_CALL(rt.cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	return RT_CALL(rt.cuStreamDestroy(stream));
}

RT_TWINS(cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream))
{
	return RT_CALL(drv->cuStreamSynchronize(stream));
}

RT_TWINS(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream))
{
	return RT_CALL(drv->cuStreamQuery(stream));
}

RT_TWINS(cudaStreamWaitEvent, _ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	 (stream, event, flags))
{
	return RT_CALL(drv->cuStreamWaitEvent(stream, event, flags));
}

RT_TWINS(cudaStreamGetFlags, _ptsz, (cudaStream_t stream, unsigned int *flags), (stream, flags))
{
	return RT_CALL(drv->cuStreamGetFlags(stream, flags));
}

RT_TWINS(cudaStreamGetPriority, _ptsz, (cudaStream_t stream, int *priority), (stream, priority))
{
	return RT_CALL(drv->cuStreamGetPriority(stream, priority));
}

RT_TWINS(cudaStreamGetId, _ptsz, (cudaStream_t stream, unsigned long long *id), (stream, id))
{
	return RT_CALL(drv->cuStreamGetId(stream, id));
}

RT_TWINS(cudaStreamGetDevice, _ptsz, (cudaStream_t stream, int *device), (stream, device))
{
	return RT_CALL(drv->cuStreamGetDevice(stream, device));
}

RT_TWINS(cudaStreamAddCallback, _ptsz,
	 (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int flags),
	 (stream, callback, data, flags))
{
	/* The two callback types differ in their status enums alone, which agree by value. */
	return RT_CALL(drv->cuStreamAddCallback(stream, (CUstreamCallback)(void (*)(void))callback,
						data, flags));
}

RT_TWINS(cudaStreamAttachMemAsync, _ptsz,
	 (cudaStream_t stream, void *ptr, size_t bytes, unsigned int flags),
	 (stream, ptr, bytes, flags))
{
	return RT_CALL(drv->cuStreamAttachMemAsync(stream, (CUdeviceptr)ptr, bytes, flags));
}

RT_TWINS(cudaLaunchHostFunc, _ptsz, (cudaStream_t stream, cudaHostFn_t function, void *data),
	 (stream, function, data))
{
	return RT_CALL(drv->cuLaunchHostFunc(stream, function, data));
}

RT_TWINS(cudaStreamBeginCapture, _ptsz, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	 (stream, mode))
{
	return RT_CALL(drv->cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

RT_TWINS(cudaStreamBeginCaptureToGraph, _ptsz,
	 (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,
	  const cudaGraphEdgeData *edges, size_t nr_after, enum cudaStreamCaptureMode mode),
	 (stream, graph, after, edges, nr_after, mode))
{
	return RT_CALL(drv->cuStreamBeginCaptureToGraph(stream, graph, after,
							(const CUgraphEdgeData *)edges, nr_after,
							(CUstreamCaptureMode)mode));
}

RT_TWINS(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph))
{
	return RT_CALL(drv->cuStreamEndCapture(stream, graph));
}

RT_TWINS(cudaStreamIsCapturing, _ptsz, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
	 (stream, status))
{
	return RT_CALL(drv->cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

RT_TWINS(cudaStreamGetCaptureInfo, _ptsz,
	 (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	  cudaGraph_t *graph, const cudaGraphNode_t **after, const cudaGraphEdgeData **edges,
	  size_t *nr_after),
	 (stream, status, id, graph, after, edges, nr_after))
{
	return RT_CALL(drv->cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
						   (cuuint64_t *)id, graph, after,
						   (const CUgraphEdgeData **)edges, nr_after));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	return RT_CALL(rt.cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return RT_CALL(rt.cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	return RT_CALL(rt.cuEventCreate(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	return RT_CALL(rt.cuEventDestroy(event));
}

RT_TWINS(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream))
{
	return RT_CALL(drv->cuEventRecord(event, stream));
}

RT_TWINS(cudaEventRecordWithFlags, _ptsz,
	 (cudaEvent_t event, cudaStream_t stream, unsigned int flags), (event, stream, flags))
{
	return RT_CALL(drv->cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	return RT_CALL(rt.cuEventSynchronize(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	return RT_CALL(rt.cuEventQuery(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	return RT_CALL(rt.cuEventElapsedTime(ms, start, end));
}
