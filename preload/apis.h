/* Ids of the rows of driver_apis.def, in order; names only, no CUDA types. */
#ifndef GMT_PRELOAD_APIS_H
#define GMT_PRELOAD_APIS_H

#include <stdint.h>

enum gmt_api {
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, pool) GMT_API_##symbol,
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)    GMT_API_##symbol,
#define GMT_CUSTOM(symbol, runtime, file)				     GMT_API_##symbol,
#define GMT_USED(symbol)
#include "preload/driver_apis.def"
#undef GMT_USED
	GMT_NR_APIS,
	/* Entries we call and do not interpose follow, so that real.c keeps all in one array. */
	GMT_BEFORE_USED = GMT_NR_APIS - 1,
#undef GMT_ALLOC
#undef GMT_FREE
#undef GMT_CUSTOM
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, pool)
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)
#define GMT_CUSTOM(symbol, runtime, file)
#define GMT_USED(symbol) GMT_API_##symbol,
#include "preload/driver_apis.def"
#undef GMT_ALLOC
#undef GMT_FREE
#undef GMT_CUSTOM
#undef GMT_USED
	GMT_NR_ENTRIES
};

/* A call through a hook: which entry, by which route. Passed by value, in registers. */
struct gmt_call {
	unsigned short api;	 /* enum gmt_api, with GMT_API_RUNTIME when handed to a runtime */
	unsigned short route;	 /* enum gmt_route */
	const uintptr_t *caller; /* where the hook's return address stands; NULL: not known */
};

#endif
