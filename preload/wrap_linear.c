/*
 * Linear device memory, stream-ordered memory, host memory and arrays: all rows of driver_apis.def
 * that only allocate or free. A failure of ours never reaches the application.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <stdint.h>

#include <cuda.h>

#include "preload/capture.h"
#include "preload/context.h"
#include "preload/init.h"
#include "preload/record.h"
#include "preload/wrap.h"
#include "preload/wrap_array.h"

/* Where a new block lies, by its kind. */
#define PLACE_OF_DEVICE(address)     gmt_context_place()
#define PLACE_OF_MANAGED(address)    gmt_context_place()
#define PLACE_OF_ARRAY(address)	     gmt_context_place()
#define PLACE_OF_POOL(address)	     gmt_context_pool_place(address)
#define PLACE_OF_PINNED(address)     gmt_context_host_place()
#define PLACE_OF_REGISTERED(address) gmt_context_no_place()

/* Whether the call only adds a node to a graph, by the kind of what it allocates. */
#define INTO_GRAPH_DEVICE(symbol)     false
#define INTO_GRAPH_MANAGED(symbol)    false
#define INTO_GRAPH_ARRAY(symbol)      false
#define INTO_GRAPH_PINNED(symbol)     false
#define INTO_GRAPH_REGISTERED(symbol) false
#define INTO_GRAPH_POOL(symbol)	      gmt_capture_is_on(gmt_capture_stream(s, symbol))

static enum gmt_freed outcome_of(CUresult rc)
{
	if (rc == CUDA_SUCCESS)
		return GMT_FREED;
	return rc == CUDA_ERROR_DEINITIALIZED || rc == CUDA_ERROR_CONTEXT_IS_DESTROYED
		       ? GMT_FREED_TEARDOWN
		       : GMT_FREED_REFUSED;
}

/* The real call is not guarded: a nested legal allocation (a callback's) is recorded too. */
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, in_pool)                    \
	GMT_IMPL CUresult impl_##symbol(struct gmt_call call, GMT_STRIP params)                    \
	{                                                                                          \
		__typeof__(&symbol) real = gmt_real(GMT_API_##symbol);                             \
		CUresult rc;                                                                       \
                                                                                                   \
		if (!real)                                                                         \
			return GMT_NO_DRIVER;                                                      \
		rc = real args;                                                                    \
		if (!gmt_init_traced())                                                            \
			return rc;                                                                 \
		if (rc == CUDA_SUCCESS && INTO_GRAPH_##kind(#symbol))                              \
			gmt_count(GMT_COUNT_graph_allocations);                                    \
		else if (rc == CUDA_SUCCESS)                                                       \
			gmt_record_alloc(call, GMT_KIND_##kind, (uint64_t)(address), bytes,        \
					 (uint64_t)(in_pool), PLACE_OF_##kind(address));           \
		else                                                                               \
			gmt_record_failed();                                                       \
		return rc;                                                                         \
	}                                                                                          \
	GMT_DEFINE_HOOKS(symbol, params, args)

/* The kinds that a call is for; cuMemFree takes stream-ordered memory as well. */
#define KIND(kind)		      (1u << GMT_KIND_##kind)
#define LINEAR			      (KIND(DEVICE) | KIND(MANAGED) | KIND(POOL) | KIND(IMPORTED) | KIND(GRAPH))
#define FREES_cuMemFree		      LINEAR
#define FREES_cuMemFree_v2	      LINEAR
#define FREES_cuMemFreeAsync	      (KIND(POOL) | KIND(IMPORTED) | KIND(GRAPH))
#define FREES_cuMemFreeAsync_ptsz     FREES_cuMemFreeAsync
#define FREES_cuMemFreeHost	      KIND(PINNED)
#define FREES_cuMemHostUnregister     KIND(REGISTERED)
#define FREES_cuArrayDestroy	      KIND(ARRAY)
#define FREES_cuMipmappedArrayDestroy KIND(ARRAY)

/* Whether the call only adds a node to a graph: the memory is freed when the graph is launched. */
#define GRAPH_NODE_cuMemFree		   false
#define GRAPH_NODE_cuMemFree_v2		   false
#define GRAPH_NODE_cuMemFreeAsync	   gmt_capture_is_on(s)
#define GRAPH_NODE_cuMemFreeAsync_ptsz	   gmt_capture_is_on(gmt_capture_stream(s, "_cuda_ptsz"))
#define GRAPH_NODE_cuMemFreeHost	   false
#define GRAPH_NODE_cuMemHostUnregister	   false
#define GRAPH_NODE_cuArrayDestroy	   false
#define GRAPH_NODE_cuMipmappedArrayDestroy false

/* Claimed before the call: once it returns, another thread may own the same address. */
#define GMT_FREE(symbol, runtime, params, args, address)                                           \
	GMT_IMPL CUresult impl_##symbol(struct gmt_call call, GMT_STRIP params)                    \
	{                                                                                          \
		__typeof__(&symbol) real = gmt_real(GMT_API_##symbol);                             \
		struct gmt_claim claim;                                                            \
		CUresult rc;                                                                       \
                                                                                                   \
		if (!real)                                                                         \
			return GMT_NO_DRIVER;                                                      \
		if (!gmt_init_traced() || GRAPH_NODE_##symbol)                                     \
			return real args;                                                          \
		gmt_record_claim((uint64_t)(address), &claim);                                     \
		rc = real args;                                                                    \
		gmt_record_free_ended(call, (uint64_t)(address), FREES_##symbol, &claim,           \
				      outcome_of(rc));                                             \
		return rc;                                                                         \
	}                                                                                          \
	GMT_DEFINE_HOOKS(symbol, params, args)

#define GMT_CUSTOM(symbol, runtime, file)
#define GMT_USED(symbol)
#include "preload/driver_apis.def"
