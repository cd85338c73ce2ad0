/*
 * How the simulated runtime finds the driver: like cudart 13.0, at the first call, by dlopen, dlsym
 * of cuGetProcAddress_v2, and from then on through cuGetProcAddress alone.
 */
#include "tests/sim/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct rt_driver rt;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool loaded, closed;

/* Stands in for an entry that an older driver lacks; any arguments are ignored. */
static CUresult unavailable(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

/*
 * All look-ups are made from this one function: a tool that judges look-ups by the caller's address
 * sees them side by side, as it does with cudart.
 */
static bool look_up(PFN_cuGetProcAddress_v12000 get)
{
	CUdriverProcAddressQueryResult status;
	void *found = NULL;
	void *init = NULL;
	void *get_v1 = NULL;
	void *get_v2 = NULL;

	/* cudart asks for nothing first, to see whether the entry works at all. */
	get("", &found, 0, 0, NULL);
	if (get("cuInit", &init, 2000, 0, NULL) != CUDA_SUCCESS || !init)
		return false;
	get("cuGetProcAddress", &get_v1, 11030, 0, NULL);
	get("cuGetProcAddress", &get_v2, 12000, 0, NULL);
	if (!get_v1 || !get_v2)
		return false;
	memcpy(&rt.init, &init, sizeof(init));
	memcpy(&rt.get_proc_address, &get_v2, sizeof(get_v2));
	get = rt.get_proc_address;

#define FIND(field, name, version, flags)                                                          \
	found = NULL;                                                                              \
	if (get(name, &found, version, flags, &status) != CUDA_SUCCESS || !found)                  \
		found = (void *)unavailable;                                                       \
	memcpy(&(field), &found, sizeof(found));
#define RT_ENTRY(name, version) FIND(rt.name, #name, version, 0)
#define RT_TWIN(name, version, pt_version)                                                         \
	FIND(rt.legacy.name, #name, version, 0)                                                    \
	FIND(rt.per_thread.name, #name, pt_version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
#include "tests/sim/runtime_entries.def"
#undef RT_ENTRY
#undef RT_TWIN
#undef FIND
	return true;
}

static cudaError_t load_driver(void)
{
	PFN_cuGetProcAddress_v12000 get;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	void *entry;

	if (!driver)
		return cudaErrorInsufficientDriver;
	entry = dlsym(driver, "cuGetProcAddress_v2");
	if (!entry)
		return cudaErrorInsufficientDriver;
	memcpy(&get, &entry, sizeof(get));
	if (!look_up(get))
		return cudaErrorInsufficientDriver;
	return (cudaError_t)rt.init(0);
}

static void close_runtime(void)
{
	atomic_store(&closed, true);
}

/*
 * As cudart 13.0 does (measured on an H200): from its first call on the runtime is closed by an
 * exit handler, and a call that comes later, as from the destructor of an older object, is refused
 * by the runtime itself: the driver does not hear of it.
 */
cudaError_t rt_load(void)
{
	cudaError_t err = cudaSuccess;

	if (atomic_load_explicit(&closed, memory_order_acquire))
		return cudaErrorCudartUnloading;
	if (atomic_load_explicit(&loaded, memory_order_acquire))
		return cudaSuccess;

	pthread_mutex_lock(&load_lock);
	if (!atomic_load_explicit(&loaded, memory_order_relaxed)) {
		atexit(close_runtime);
		err = load_driver();
		atomic_store_explicit(&loaded, err == cudaSuccess, memory_order_release);
	}
	pthread_mutex_unlock(&load_lock);
	return err;
}
