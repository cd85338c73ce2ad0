/*
 * cuInit and contexts: which context and device a block belongs to, and what goes with a context.
 * Runs in the application's threads; calls go to the real entries, with no lock held.
 */
#define __CUDA_API_VERSION_INTERNAL
#include "preload/context.h"

#include <stdatomic.h>
#include <stddef.h>

#include <cuda.h>

#include "preload/guard.h"
#include "preload/init.h"
#include "preload/lookup.h"
#include "preload/record.h"
#include "preload/wrap.h"

/* With one device, which is most machines, nobody need be asked which it is. */
static atomic_int device_count;

void gmt_context_set_devices(int count)
{
	atomic_store(&device_count, count);
}

int gmt_context_devices(void)
{
	return atomic_load(&device_count);
}

/*
 * This thread's last context and its device: contexts change seldom, allocations are many. The
 * epoch counts contexts made and destroyed: a handle may be given out again, for another device.
 */
static atomic_uint epoch;
static GMT_TLS CUcontext last_context;
static GMT_TLS int last_device;
static GMT_TLS unsigned int last_epoch;

int32_t gmt_context_device(void)
{
	CUcontext context = NULL;
	CUdevice device = GMT_NO_DEVICE;
	unsigned int now = atomic_load_explicit(&epoch, memory_order_relaxed);

	if (atomic_load_explicit(&device_count, memory_order_relaxed) == 1)
		return 0;
	if (!REAL(cuCtxGetCurrent) || REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS || !context)
		return GMT_NO_DEVICE;
	if (context == last_context && last_epoch == now)
		return last_device;
	/* The unsuffixed entry is the one without a context argument in every version. */
	if (!REAL(cuCtxGetDevice) || REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS)
		return GMT_NO_DEVICE;
	last_context = context;
	last_device = device;
	last_epoch = now;
	return device;
}

/* Contexts that the program created and has not destroyed. Few; a slot is given out again. */
#define CREATED_MAX 256
static struct {
	atomic_uint count; /* created so far: while it is 0, only primary contexts exist */
	_Atomic(CUcontext) contexts[CREATED_MAX];
	atomic_uint numbers[CREATED_MAX];
} created;

static uint32_t number_of(CUcontext context)
{
	for (int i = 0; i < CREATED_MAX; i++)
		if (atomic_load(&created.contexts[i]) == context)
			return atomic_load(&created.numbers[i]);
	return 0;
}

static uint32_t current_context(int32_t device)
{
	CUcontext context = NULL;
	uint32_t number;

	if (atomic_load_explicit(&created.count, memory_order_relaxed) && REAL(cuCtxGetCurrent) &&
	    REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context) {
		number = number_of(context);
		if (number)
			return number;
	}
	return device >= 0 ? (uint32_t)device + 1 : 0;
}

struct gmt_place gmt_context_place(void)
{
	int32_t device = gmt_context_device();

	return (struct gmt_place){ device, current_context(device) };
}

struct gmt_place gmt_context_host_place(void)
{
	return (struct gmt_place){ GMT_NO_DEVICE, current_context(gmt_context_device()) };
}

struct gmt_place gmt_context_no_place(void)
{
	return (struct gmt_place){ GMT_NO_DEVICE, 0 };
}

struct gmt_place gmt_context_pool_place(uint64_t addr)
{
	int ordinal = 0;

	if (atomic_load_explicit(&device_count, memory_order_relaxed) == 1)
		return (struct gmt_place){ 0, 0 };
	/* The pool may belong to another device than the stream or the current context. */
	if (!REAL(cuPointerGetAttribute) ||
	    REAL(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, addr) !=
		    CUDA_SUCCESS)
		ordinal = gmt_context_device();
	return (struct gmt_place){ ordinal, 0 };
}

static void keep_created(CUcontext context, uint32_t number)
{
	atomic_fetch_add(&epoch, 1);
	for (int i = 0; i < CREATED_MAX; i++) {
		CUcontext expected = NULL;

		if (!atomic_load(&created.contexts[i])) {
			atomic_store(&created.numbers[i], number);
			if (atomic_compare_exchange_strong(&created.contexts[i], &expected,
							   context))
				return;
		}
	}
	/* Its memory is then counted with the primary context's. */
	gmt_record_note("more than 256 contexts at once: some are taken for the primary one");
}

static void note_created(CUcontext context)
{
	keep_created(context, GMT_MAX_DEVICES + 1 + atomic_fetch_add(&created.count, 1));
}

/* Before a context is destroyed: the handle may be given out again at once. 0: not ours. */
static uint32_t claim_created(CUcontext context)
{
	atomic_fetch_add(&epoch, 1);
	for (int i = 0; context && i < CREATED_MAX; i++) {
		uint32_t number = atomic_load(&created.numbers[i]);
		CUcontext expected = context;

		if (atomic_compare_exchange_strong(&created.contexts[i], &expected, NULL))
			return number;
	}
	return 0;
}

GMT_IMPL CUresult impl_cuInit(struct gmt_call call, unsigned int flags)
{
	__typeof__(&cuInit) real = gmt_real(GMT_API_cuInit);
	CUresult rc;

	(void)call;
	gmt_lookup_initialized();
	if (!real)
		return GMT_NO_DRIVER;
	rc = real(flags);
	if (rc == CUDA_SUCCESS && gmt_init_traced()) {
		gmt_record_used_cuda();
		gmt_init_activate();
	}
	return rc;
}

GMT_DEFINE_HOOKS(cuInit, (unsigned int flags), (flags))

#define CREATE(symbol, params, args)                                                               \
	GMT_AFTER(symbol, params, args,                                                            \
		  if (rc == CUDA_SUCCESS && context && *context) note_created(*context))

CREATE(cuCtxCreate, (CUcontext * context, unsigned int flags, CUdevice device),
       (context, flags, device))
CREATE(cuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device),
       (context, flags, device))
CREATE(cuCtxCreate_v3,
       (CUcontext * context, CUexecAffinityParam *affinity, int count, unsigned int flags,
	CUdevice device),
       (context, affinity, count, flags, device))
CREATE(cuCtxCreate_v4,
       (CUcontext * context, CUctxCreateParams *create, unsigned int flags, CUdevice device),
       (context, create, flags, device))

#define DESTROY(symbol)                                                                            \
	GMT_IMPL CUresult impl_##symbol(struct gmt_call call, CUcontext context)                   \
	{                                                                                          \
		__typeof__(&symbol) real = gmt_real(GMT_API_##symbol);                             \
		uint32_t number = claim_created(context);                                          \
		CUresult rc;                                                                       \
                                                                                                   \
		(void)call;                                                                        \
		if (!real)                                                                         \
			return GMT_NO_DRIVER;                                                      \
		rc = real(context);                                                                \
		if (number && rc == CUDA_SUCCESS && gmt_init_traced())                             \
			gmt_record_reclaim(number);                                                \
		else if (number && rc != CUDA_SUCCESS)                                             \
			keep_created(context, number);                                             \
		return rc;                                                                         \
	}                                                                                          \
	GMT_DEFINE_HOOKS(symbol, (CUcontext context), (context))

DESTROY(cuCtxDestroy)
DESTROY(cuCtxDestroy_v2)

/* A release that was the last one does what a reset does; asked of the driver, who counts. */
static bool primary_is_gone(CUdevice device)
{
	unsigned int flags;
	int active = 1;

	return REAL(cuDevicePrimaryCtxGetState) &&
	       REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) == CUDA_SUCCESS && !active;
}

#define RESET(symbol)                                                                              \
	GMT_AFTER(symbol, (CUdevice device), (device),                                             \
		  if (rc == CUDA_SUCCESS && gmt_init_traced() && primary_is_gone(device))          \
			  gmt_record_reclaim((uint32_t)device + 1))

RESET(cuDevicePrimaryCtxReset)
RESET(cuDevicePrimaryCtxReset_v2)
RESET(cuDevicePrimaryCtxRelease)
RESET(cuDevicePrimaryCtxRelease_v2)
