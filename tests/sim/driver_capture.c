/*
 * Stream capture: the work of a capturing stream becomes nodes of a graph. A stream joins a capture
 * by waiting for an event that was recorded in it. Calls that a capture forbids spoil it, as on
 * the real driver, so a tool that makes them from inside a capture is caught.
 */
#include <stdlib.h>

#include "driver.h"

static struct sim_capture *captures;
static uint64_t next_id;

CUresult sim_capture_forbids(void)
{
	CUresult rc = CUDA_SUCCESS;

	if (sim_self.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	for (struct sim_capture *c = captures; c; c = c->next) {
		bool own = c->thread == sim_self.id && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
		bool global = c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
			      sim_self.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;

		if (c->ended || (!own && !global))
			continue;
		c->invalid = true;
		rc = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return rc;
}

CUresult sim_capture_forbids_legacy(const struct sim_context *ctx)
{
	CUresult rc = CUDA_SUCCESS;

	for (struct sim_capture *c = captures; c; c = c->next) {
		if (c->ended || c->origin->object.context != ctx ||
		    c->origin->flags & CU_STREAM_NON_BLOCKING)
			continue;
		c->invalid = true;
		rc = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	return rc;
}

static void leave_if_in(void *object, void *closure)
{
	struct sim_stream *stream = object;

	if (stream->capture == closure) {
		stream->capture = NULL;
		stream->nr_deps = 0;
	}
}

static void end(struct sim_capture *capture)
{
	capture->ended = true;
	sim_object_each(SIM_STREAM, leave_if_in, capture);
}

void sim_capture_leave(struct sim_stream *stream)
{
	struct sim_capture *capture = stream->capture;

	stream->capture = NULL;
	if (!capture)
		return;
	capture->invalid = true;
	if (capture->origin == stream) {
		end(capture);
		if (!capture->borrowed)
			sim_graph_destroy(capture->graph);
	}
}

CUresult sim_capture_work(struct sim_stream *stream, struct sim_work *work)
{
	struct sim_node *node;
	CUresult rc;

	if (stream->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	rc = sim_graph_add(stream->capture->graph, (CUgraphNode *)stream->deps, stream->nr_deps,
			   work, &node);
	if (rc != CUDA_SUCCESS)
		return rc;
	return sim_deps_set(&stream->deps, &stream->nr_deps, &node, 1) ? CUDA_SUCCESS
								       : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_capture_alloc(struct sim_stream *stream, struct sim_device *device, size_t bytes,
			   CUdeviceptr *addr)
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	CUresult rc;

	work.block = sim_graph_block_new(device, bytes);
	if (!work.block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*addr = (CUdeviceptr)work.block->addr;
	rc = sim_capture_work(stream, &work);
	sim_work_drop(&work);
	return rc;
}

static CUresult begin(CUstream handle, struct sim_graph *graph, const CUgraphNode *deps,
		      size_t nr_deps, CUstreamCaptureMode mode)
{
	struct sim_capture *capture;
	struct sim_stream *stream;
	CUresult rc = sim_stream(handle, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream == stream->object.context->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return CUDA_ERROR_OUT_OF_MEMORY;
	capture->borrowed = graph;
	capture->graph = graph ? graph : sim_graph_new();
	capture->origin = stream;
	capture->mode = mode;
	capture->thread = sim_self.id;
	capture->id = ++next_id;
	if (!capture->graph || !sim_deps_set(&stream->deps, &stream->nr_deps,
					     (struct sim_node *const *)deps, nr_deps)) {
		free(capture);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	capture->next = captures;
	captures = capture;
	stream->capture = capture;
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuStreamBeginCapture, _ptsz, (CUstream hStream), (hStream))
{
	return begin(hStream, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

SIM_API_TWIN(cuStreamBeginCapture_v2, _ptsz, (CUstream hStream, CUstreamCaptureMode mode),
	     (hStream, mode))
{
	return begin(hStream, NULL, NULL, 0, mode);
}

SIM_API_TWIN(cuStreamBeginCaptureToGraph, _ptsz,
	     (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
	      const CUgraphEdgeData *dependencyData, size_t numDependencies,
	      CUstreamCaptureMode mode),
	     (hStream, hGraph, dependencies, dependencyData, numDependencies, mode))
{
	SIM_FIND(graph, sim_graph, hGraph, SIM_GRAPH);

	if (!graph || (numDependencies && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	return begin(hStream, graph, dependencies, numDependencies, mode);
}

static bool has_dependent(const struct sim_graph *graph, const struct sim_node *node)
{
	for (const struct sim_node *other = graph->nodes; other; other = other->next)
		for (size_t i = 0; i < other->nr_deps; i++)
			if (other->deps[i] == node)
				return true;
	return false;
}

/* All work of the streams that joined must lead back to the stream that began. */
static bool is_joined(const struct sim_capture *capture)
{
	const struct sim_stream *origin = capture->origin;

	for (struct sim_node *node = capture->graph->nodes; node; node = node->next) {
		bool found = has_dependent(capture->graph, node);

		for (size_t i = 0; !found && i < origin->nr_deps; i++)
			found = origin->deps[i] == node;
		if (!found)
			return false;
	}
	return true;
}

SIM_API_TWIN(cuStreamEndCapture, _ptsz, (CUstream hStream, CUgraph *phGraph), (hStream, phGraph))
{
	struct sim_capture *capture;
	struct sim_stream *stream;
	CUresult rc = sim_stream(hStream, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	capture = stream->capture;
	if (!phGraph)
		return CUDA_ERROR_INVALID_VALUE;
	if (!capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (capture->origin != stream) {
		capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	if (capture->thread != sim_self.id && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (capture->invalid)
		rc = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!capture->borrowed && !is_joined(capture))
		rc = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	end(capture);
	*phGraph = NULL;
	if (rc == CUDA_SUCCESS)
		*phGraph = (CUgraph)capture->graph;
	else if (!capture->borrowed)
		sim_graph_destroy(capture->graph);
	return rc;
}

static CUstreamCaptureStatus status_of(const struct sim_stream *stream)
{
	if (!stream->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
					: CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* Asking about the legacy stream while another stream captures is an error of its own. */
static CUresult capturing_stream(CUstream handle, struct sim_stream **stream)
{
	CUresult rc = sim_stream(handle, stream);

	if (rc != CUDA_SUCCESS || *stream != (*stream)->object.context->legacy)
		return rc;
	for (struct sim_capture *c = captures; c; c = c->next)
		if (!c->ended && c->origin->object.context == (*stream)->object.context &&
		    !(c->origin->flags & CU_STREAM_NON_BLOCKING))
			return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuStreamIsCapturing, _ptsz, (CUstream hStream, CUstreamCaptureStatus *captureStatus),
	     (hStream, captureStatus))
{
	struct sim_stream *stream;
	CUresult rc = capturing_stream(hStream, &stream);

	if (rc == CUDA_SUCCESS && !captureStatus)
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc == CUDA_SUCCESS)
		*captureStatus = status_of(stream);
	return rc;
}

static CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
			     CUgraph *graph, const CUgraphNode **deps, size_t *nr_deps)
{
	struct sim_stream *stream;
	CUresult rc = capturing_stream(handle, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	*status = status_of(stream);
	if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_SUCCESS;
	if (id)
		*id = stream->capture->id;
	if (graph)
		*graph = (CUgraph)stream->capture->graph;
	if (deps)
		*deps = (const CUgraphNode *)stream->deps;
	if (nr_deps)
		*nr_deps = stream->nr_deps;
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuStreamGetCaptureInfo, _ptsz,
	     (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out),
	     (hStream, captureStatus_out, id_out))
{
	return capture_info(hStream, captureStatus_out, id_out, NULL, NULL, NULL);
}

SIM_API_TWIN(cuStreamGetCaptureInfo_v2, _ptsz,
	     (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
	      CUgraph *graph_out, const CUgraphNode **dependencies_out,
	      size_t *numDependencies_out),
	     (hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out))
{
	return capture_info(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
			    numDependencies_out);
}

SIM_API_TWIN(cuStreamGetCaptureInfo_v3, _ptsz,
	     (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
	      CUgraph *graph_out, const CUgraphNode **dependencies_out,
	      const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out),
	     (hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
	      numDependencies_out))
{
	if (edgeData_out)
		*edgeData_out = NULL;
	return capture_info(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
			    numDependencies_out);
}

static CUresult update(CUstream handle, const CUgraphNode *deps, size_t nr_deps, unsigned int flags)
{
	struct sim_stream *stream;
	CUresult rc = sim_stream(handle, &stream);

	if (rc != CUDA_SUCCESS)
		return rc;
	if (!stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		return sim_deps_set(&stream->deps, &stream->nr_deps, (struct sim_node *const *)deps,
				    nr_deps)
			       ? CUDA_SUCCESS
			       : CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < nr_deps; i++)
		if (!sim_deps_add(&stream->deps, &stream->nr_deps, (struct sim_node *)deps[i]))
			return CUDA_ERROR_OUT_OF_MEMORY;
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuStreamUpdateCaptureDependencies, _ptsz,
	     (CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
	      unsigned int flags),
	     (hStream, dependencies, numDependencies, flags))
{
	return update(hStream, dependencies, numDependencies, flags);
}

SIM_API_TWIN(cuStreamUpdateCaptureDependencies_v2, _ptsz,
	     (CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
	      size_t numDependencies, unsigned int flags),
	     (hStream, dependencies, dependencyData, numDependencies, flags))
{
	return update(hStream, dependencies, numDependencies, flags);
}

SIM_API(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode), (mode))
{
	CUstreamCaptureMode old = sim_self.capture_mode;

	if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	sim_self.capture_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}
