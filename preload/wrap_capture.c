/*
 * Stream capture. Counts the captures that are open: only while there is one is the driver asked
 * whether a stream is part of it. A set of streams would not do, since others join by waiting for
 * events. A capture whose stream is destroyed stays counted, which costs a question a call.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <stdatomic.h>
#include <stddef.h>

#include <cuda.h>

#include "preload/capture.h"
#include "preload/wrap.h"

static atomic_int open_captures;

bool gmt_capture_is_on(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if (atomic_load_explicit(&open_captures, memory_order_relaxed) <= 0)
		return false;
	/* Of the legacy stream it may fail while another captures: that one does not capture. */
	return REAL(cuStreamIsCapturing) &&
	       REAL(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static void began(CUresult rc)
{
	if (rc == CUDA_SUCCESS)
		atomic_fetch_add(&open_captures, 1);
}

/* These errors end the capture all the same; others say that there was none to end. */
static void ended(CUresult rc)
{
	if (rc == CUDA_SUCCESS || rc == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
	    rc == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
		atomic_fetch_sub(&open_captures, 1);
}

#define CAPTURE(symbol, params, args, then) GMT_AFTER(symbol, params, args, then(rc))

#define BEGIN_PARAMS (CUstream stream, CUstreamCaptureMode mode)
#define GRAPH_PARAMS                                                                               \
	(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,                          \
	 const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode)
#define GRAPH_ARGS (stream, graph, dependencies, edges, count, mode)

CAPTURE(cuStreamBeginCapture, (CUstream stream), (stream), began)
CAPTURE(cuStreamBeginCapture_ptsz, (CUstream stream), (stream), began)
CAPTURE(cuStreamBeginCapture_v2, BEGIN_PARAMS, (stream, mode), began)
CAPTURE(cuStreamBeginCapture_v2_ptsz, BEGIN_PARAMS, (stream, mode), began)
CAPTURE(cuStreamBeginCaptureToGraph, GRAPH_PARAMS, GRAPH_ARGS, began)
CAPTURE(cuStreamBeginCaptureToGraph_ptsz, GRAPH_PARAMS, GRAPH_ARGS, began)
CAPTURE(cuStreamEndCapture, (CUstream stream, CUgraph *graph), (stream, graph), ended)
CAPTURE(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph *graph), (stream, graph), ended)
