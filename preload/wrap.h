/*
 * How a row of driver_apis.def becomes hooks. For each entry four functions share one body,
 * impl_SYMBOL, which learns from its first argument how it was reached:
 *
 *   SYMBOL          exported, for programs that link the driver
 *   gmt_dl_SYMBOL   handed out by the dlsym filter
 *   gmt_gp_SYMBOL   handed out by cuGetProcAddress
 *   gmt_rt_SYMBOL   the same, to a CUDA runtime: the report names the runtime's call
 *
 * Included by the files that define hooks, after <cuda.h>.
 */
#ifndef GMT_PRELOAD_WRAP_H
#define GMT_PRELOAD_WRAP_H

#include "preload/apis.h"
#include "preload/compat.h"
#include "preload/counters.h"
#include "preload/event.h"
#include "preload/real.h"
#include "preload/record.h"

#define GMT_EXPORT __attribute__((visibility("default")))

/* What an exported entry answers where there is no libcuda.so.1. */
#define GMT_NO_DRIVER CUDA_ERROR_NO_DEVICE

/* The body of four hooks: part of each, so that it adds no frame and no branch. */
#define GMT_IMPL static inline __attribute__((always_inline))

/* The real entry, typed; NULL: the driver has none. */
#define REAL(symbol) ((__typeof__(&symbol))gmt_real(GMT_API_##symbol))

#define GMT_HOOKS(symbol) gmt_dl_##symbol, gmt_gp_##symbol, gmt_rt_##symbol
#define GMT_STRIP(...)	  __VA_ARGS__

/* The return address stands just below the canonical frame address. */
#if defined(__x86_64__)
#define GMT_CALLER ((const uintptr_t *)__builtin_dwarf_cfa() - 1)
#else
#define GMT_CALLER NULL
#endif

#define GMT_HOOK(attributes, name, symbol, params, args, runtime_bit, by)                          \
	attributes CUresult name params                                                            \
	{                                                                                          \
		return impl_##symbol(                                                              \
			(struct gmt_call){ GMT_API_##symbol | (runtime_bit), by, GMT_CALLER },     \
			GMT_STRIP args);                                                           \
	}

/* Typed by the vendor's prototype: a row that disagrees with it does not compile. */
#define GMT_DEFINE_HOOKS(symbol, params, args)                                                     \
	extern __typeof__(symbol) symbol, GMT_HOOKS(symbol);                                       \
	GMT_HOOK(GMT_EXPORT, symbol, symbol, params, args, 0, GMT_ROUTE_SYMBOL)                    \
	GMT_HOOK(, gmt_dl_##symbol, symbol, params, args, 0, GMT_ROUTE_DLSYM)                      \
	GMT_HOOK(, gmt_gp_##symbol, symbol, params, args, 0, GMT_ROUTE_GETPROC)                    \
	GMT_HOOK(, gmt_rt_##symbol, symbol, params, args, GMT_API_RUNTIME, GMT_ROUTE_GETPROC)

/* Four hooks that act after the driver: what follows sees the arguments and rc, its answer. */
#define GMT_AFTER(symbol, params, args, ...)                                                       \
	GMT_IMPL CUresult impl_##symbol(struct gmt_call call, GMT_STRIP params)                    \
	{                                                                                          \
		__typeof__(&symbol) real = gmt_real(GMT_API_##symbol);                             \
		CUresult rc;                                                                       \
                                                                                                   \
		(void)call;                                                                        \
		if (!real)                                                                         \
			return GMT_NO_DRIVER;                                                      \
		rc = real args;                                                                    \
		__VA_ARGS__;                                                                       \
		return rc;                                                                         \
	}                                                                                          \
	GMT_DEFINE_HOOKS(symbol, params, args)

/* What a free came to, by the driver's answer. */
static inline enum gmt_freed gmt_outcome_of(CUresult rc)
{
	if (rc == CUDA_SUCCESS)
		return GMT_FREED;
	return rc == CUDA_ERROR_DEINITIALIZED || rc == CUDA_ERROR_CONTEXT_IS_DESTROYED
		       ? GMT_FREED_TEARDOWN
		       : GMT_FREED_REFUSED;
}

/* cuda.h declares the per-thread twins nowhere: they have their plain entry's type. */
#define GMT_PTSZ(symbol) extern __typeof__(symbol) symbol##_ptsz;
GMT_PTSZ(cuMemAllocAsync)
GMT_PTSZ(cuMemAllocFromPoolAsync)
GMT_PTSZ(cuMemFreeAsync)
GMT_PTSZ(cuLaunchKernel)
GMT_PTSZ(cuStreamBeginCapture_v2)
GMT_PTSZ(cuStreamBeginCaptureToGraph)
GMT_PTSZ(cuStreamEndCapture)
GMT_PTSZ(cuLaunchKernelEx)
GMT_PTSZ(cuLaunchCooperativeKernel)

#endif
