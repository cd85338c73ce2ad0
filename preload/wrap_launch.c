/*
 * Kernel launches: which kernels are passed which blocks. What a launch is given is read from its
 * parameters, word by word; whether the kernel follows a pointer is not known.
 *
 * Runs in the application's threads. The driver is asked about a function once, at its first
 * launch, and never while the stream is capturing.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <cuda.h>

#include "preload/arena.h"
#include "preload/config.h"
#include "preload/context.h"
#include "preload/init.h"
#include "preload/ledger_internal.h"
#include "preload/record.h"
#include "preload/wrap.h"

#define PARAMS_MAX 64  /* parameters of 8 bytes and more that are looked at */
#define WORDS_MAX  512 /* 4 KiB of parameters */

/* User space ends below 2^57, and nothing is mapped in the first 64 KiB. */
#define LOWEST_ADDRESS	UINT64_C(0x10000)
#define HIGHEST_ADDRESS (UINT64_C(1) << 57)

struct function {
	const void *handle;
	int32_t device;
	uint32_t kernel; /* id in the ledger; 0: could not be kept */
	uint32_t nr_params;
	uint32_t buffer_bytes; /* of all parameters, for the buffer form */
	struct {
		uint32_t index, bytes;
	} params[PARAMS_MAX];
	struct function *next;
};

#define BUCKETS 1024

/* Functions are only added, so that look-ups need no lock. */
static struct {
	pthread_mutex_t lock; /* guards arena and insertion; above the ledger's */
	struct gmt_arena *arena;
	_Atomic(struct function *) buckets[BUCKETS];
} functions = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct launch {
	CUfunction function;
	CUstream stream;
	void **params, **extra;
};

static _Atomic(struct function *) *bucket_of(const void *handle, int32_t device)
{
	uint64_t key[2] = { (uintptr_t)handle, (uint64_t)(uint32_t)device };

	return &functions.buckets[gmt_hash_words(key, sizeof(key)) % BUCKETS];
}

static struct function *find(const void *handle, int32_t device)
{
	struct function *function =
		atomic_load_explicit(bucket_of(handle, device), memory_order_acquire);

	while (function && (function->handle != handle || function->device != device))
		function = function->next;
	return function;
}

/*
 * A handle is a CUkernel or a CUfunction, and nothing tells which: the wrong question is answered
 * with CUDA_ERROR_INVALID_HANDLE and does no harm (measured, driver 580).
 */
static const char *name_of(CUfunction handle)
{
	const char *name = NULL;

	if (REAL(cuKernelGetName) &&
	    REAL(cuKernelGetName)(&name, (CUkernel)handle) == CUDA_SUCCESS && name)
		return name;
	if (REAL(cuFuncGetName) && REAL(cuFuncGetName)(&name, handle) == CUDA_SUCCESS && name)
		return name;
	return "(unknown kernel)";
}

static CUresult param_info(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
	CUresult rc = CUDA_ERROR_INVALID_HANDLE;

	if (REAL(cuKernelGetParamInfo))
		rc = REAL(cuKernelGetParamInfo)((CUkernel)handle, index, offset, bytes);
	if (rc == CUDA_ERROR_INVALID_HANDLE && REAL(cuFuncGetParamInfo))
		rc = REAL(cuFuncGetParamInfo)(handle, index, offset, bytes);
	return rc;
}

static void describe(struct function *function, CUfunction handle)
{
	size_t index = 0, offset, bytes;
	CUresult rc;

	while ((rc = param_info(handle, index, &offset, &bytes)) == CUDA_SUCCESS) {
		if (offset + bytes > function->buffer_bytes)
			function->buffer_bytes = (uint32_t)(offset + bytes);
		if (bytes >= sizeof(uint64_t) && function->nr_params < PARAMS_MAX) {
			function->params[function->nr_params].index = (uint32_t)index;
			function->params[function->nr_params++].bytes = (uint32_t)bytes;
		}
		index++;
	}
	/* The end of the list is told as an invalid value; a driver before 12.4 cannot tell at all.
	 */
	if (rc != CUDA_ERROR_INVALID_VALUE)
		gmt_count(GMT_COUNT_unknown_params);
}

/* At a function's first launch. NULL: no memory, or the driver must not be asked now. */
static struct function *learn(const struct launch *launch, int32_t device)
{
	CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
	struct function fresh = { .handle = launch->function, .device = device };
	struct function *kept = NULL;

	if (REAL(cuStreamIsCapturing) &&
	    REAL(cuStreamIsCapturing)(launch->stream, &capturing) == CUDA_SUCCESS &&
	    capturing != CU_STREAM_CAPTURE_STATUS_NONE)
		return NULL;
	describe(&fresh, launch->function);
	fresh.kernel = gmt_record_kernel(name_of(launch->function), device);
	pthread_mutex_lock(&functions.lock);
	if (!functions.arena)
		functions.arena = gmt_arena_new();
	if (functions.arena)
		kept = gmt_arena_alloc(functions.arena, sizeof(*kept));
	if (kept) {
		_Atomic(struct function *) *bucket = bucket_of(launch->function, device);

		*kept = fresh;
		kept->next = atomic_load(bucket);
		atomic_store_explicit(bucket, kept, memory_order_release);
	}
	pthread_mutex_unlock(&functions.lock);
	return kept;
}

static uint32_t add_words(const void *from, size_t bytes, uint64_t *words, uint32_t count)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= bytes && count < WORDS_MAX; at += 8) {
		uint64_t word;

		memcpy(&word, (const char *)from + at, sizeof(word));
		if (word >= LOWEST_ADDRESS && word < HIGHEST_ADDRESS)
			words[count++] = word;
	}
	return count;
}

/* The other way to pass parameters: a list of keys and values that names one buffer. */
static uint32_t words_of_extra(void **extra, uint64_t *words)
{
	const void *buffer = NULL;
	size_t bytes = 0;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			bytes = *(const size_t *)extra[1];
		else
			break;
	}
	return buffer ? add_words(buffer, bytes, words, 0) : 0;
}

static void record_launch(const struct launch *launch)
{
	int32_t device = gmt_context_device();
	struct function *function = find(launch->function, device);
	uint64_t words[WORDS_MAX];
	uint32_t count = 0;

	if (!function)
		function = learn(launch, device);
	if (!function || !function->kernel) {
		gmt_count(GMT_COUNT_dropped_launches);
		return;
	}
	if (launch->params)
		for (uint32_t i = 0; i < function->nr_params; i++)
			count = add_words(launch->params[function->params[i].index],
					  function->params[i].bytes, words, count);
	else if (launch->extra)
		count = words_of_extra(launch->extra, words);
	gmt_record_launch(function->kernel, (uintptr_t)launch->stream, words, count);
}

static void launched(CUresult rc, struct launch launch)
{
	if (rc == CUDA_SUCCESS && gmt_init_traced() && gmt_config()->kernels != GMT_KERNELS_OFF)
		record_launch(&launch);
}

#define LAUNCH_PARAMS                                                                              \
	(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,         \
	 unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params,         \
	 void **extra)
#define LAUNCH_ARGS (f, gx, gy, gz, bx, by, bz, shared, s, params, extra)
#define EX_PARAMS   (const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
#define EX_ARGS	    (config, f, params, extra)
#define COOPERATIVE_PARAMS                                                                         \
	(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,         \
	 unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **params)
#define COOPERATIVE_ARGS (f, gx, gy, gz, bx, by, bz, shared, s, params)

#define LAUNCH(symbol, params_list, args, stream, extra_list)                                      \
	GMT_AFTER(symbol, params_list, args,                                                       \
		  launched(rc, (struct launch){ f, stream, params, extra_list }))

LAUNCH(cuLaunchKernel, LAUNCH_PARAMS, LAUNCH_ARGS, s, extra)
LAUNCH(cuLaunchKernel_ptsz, LAUNCH_PARAMS, LAUNCH_ARGS, s, extra)
LAUNCH(cuLaunchKernelEx, EX_PARAMS, EX_ARGS, config->hStream, extra)
LAUNCH(cuLaunchKernelEx_ptsz, EX_PARAMS, EX_ARGS, config->hStream, extra)
LAUNCH(cuLaunchCooperativeKernel, COOPERATIVE_PARAMS, COOPERATIVE_ARGS, s, NULL)
LAUNCH(cuLaunchCooperativeKernel_ptsz, COOPERATIVE_PARAMS, COOPERATIVE_ARGS, s, NULL)
