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

/*
 * Whether a call on stream only adds a node to a graph. The hook's own name tells whether it is one
 * for per-thread streams.
 */
#define GMT_CAPTURED(stream) gmt_capture_is_on(gmt_capture_stream(stream, __func__))

/* The same of an allocation, by its kind. */
#define INTO_GRAPH_DEVICE     false
#define INTO_GRAPH_MANAGED    false
#define INTO_GRAPH_ARRAY      false
#define INTO_GRAPH_PINNED     false
#define INTO_GRAPH_REGISTERED false
#define INTO_GRAPH_POOL	      GMT_CAPTURED(s)

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
		if (rc == CUDA_SUCCESS && INTO_GRAPH_##kind)                                       \
			gmt_count(GMT_COUNT_graph_allocations);                                    \
		else if (rc == CUDA_SUCCESS)                                                       \
			gmt_record_alloc(call, GMT_KIND_##kind, (uint64_t)(address), bytes,        \
					 (uint64_t)(in_pool), PLACE_OF_##kind(address));           \
		else                                                                               \
			gmt_record_failed();                                                       \
		return rc;                                                                         \
	}                                                                                          \
	GMT_DEFINE_HOOKS(symbol, params, args)

/* The kinds that a call is for, as rows name them; cuMemFree takes stream-ordered memory as well.
 */
#define GMT_KIND(kind)	   (1u << GMT_KIND_##kind)
#define GMT_STREAM_ORDERED (GMT_KIND(POOL) | GMT_KIND(IMPORTED) | GMT_KIND(GRAPH))
#define GMT_LINEAR	   (GMT_STREAM_ORDERED | GMT_KIND(DEVICE) | GMT_KIND(MANAGED))

/* Claimed before the call: once it returns, another thread may own the same address. */
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)                          \
	GMT_IMPL CUresult impl_##symbol(struct gmt_call call, GMT_STRIP params)                    \
	{                                                                                          \
		__typeof__(&symbol) real = gmt_real(GMT_API_##symbol);                             \
		struct gmt_claim claim;                                                            \
		CUresult rc;                                                                       \
                                                                                                   \
		if (!real)                                                                         \
			return GMT_NO_DRIVER;                                                      \
		if (!gmt_init_traced() || (in_graph))                                              \
			return real args;                                                          \
		gmt_record_claim((uint64_t)(address), &claim);                                     \
		rc = real args;                                                                    \
		gmt_record_free_ended(call, (uint64_t)(address), frees, &claim,                    \
				      gmt_outcome_of(rc));                                         \
		return rc;                                                                         \
	}                                                                                          \
	GMT_DEFINE_HOOKS(symbol, params, args)

#define GMT_CUSTOM(symbol, runtime, file)
#define GMT_USED(symbol)
#include "preload/driver_apis.def"
