/*
 * What every entry of the simulated driver goes through: the one mutex, the life of the driver
 * (not initialised, ready, gone at exit, useless in a forked child), the tool, and cuInit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

enum state { COLD, READY, GONE, FORKED };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic enum state state;
static bool looked_up; /* under the mutex */
static atomic_uint next_thread, next_correlation;
static _Atomic(const struct gmtsim_tool *) current_tool;

__thread struct sim_thread sim_self;

void sim_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

const struct gmtsim_tool *sim_tool(void)
{
	return atomic_load(&current_tool);
}

const struct gmtsim_tool *gmtsim_set_tool(const struct gmtsim_tool *tool)
{
	return atomic_exchange(&current_tool, tool);
}

bool sim_is_ready(void)
{
	return atomic_load(&state) == READY;
}

/* A child of fork has none of the parent's device: the real driver refuses as well. */
static void forked(void)
{
	if (atomic_load(&state) != COLD)
		atomic_store(&state, FORKED);
	/* Another thread may have held it, and is not here to let go. */
	pthread_mutex_init(&mutex, NULL);
}

/* Runs among the program's exit handlers: what frees later than this gets 4, as in reality. */
static void leave_process(void)
{
	if (atomic_load(&state) != READY)
		return;
	sim_lock();
	sim_stats_write();
	sim_unlock();
	if (sim_config()->deinit)
		atomic_store(&state, GONE);
}

static CUresult refusal(unsigned int flags)
{
	switch (atomic_load(&state)) {
	case COLD:
		return flags & SIM_EARLY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
	case GONE:
		return CUDA_ERROR_DEINITIALIZED;
	case FORKED:
		return flags & SIM_EARLY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
	default:
		return CUDA_SUCCESS;
	}
}

static void slow_down(const char *name)
{
	unsigned int us = sim_slow_us(name);
	struct timespec pause = { us / 1000000, (long)(us % 1000000) * 1000 };

	if (us)
		nanosleep(&pause, NULL);
}

CUresult sim_enter(struct sim_frame *frame, unsigned int flags)
{
	const struct gmtsim_tool *tool = sim_tool();
	CUresult rc;

	if (!sim_self.id)
		sim_self.id = atomic_fetch_add(&next_thread, 1) + 1;
	frame->outer_per_thread = sim_self.per_thread;
	frame->outer_correlation = sim_self.correlation;
	sim_self.per_thread = flags & SIM_PER_THREAD;
	sim_self.correlation = atomic_fetch_add(&next_correlation, 1) + 1;

	frame->call.correlation = sim_self.correlation;
	frame->call.context = (CUcontext)sim_top();
	if (tool && tool->enter)
		tool->enter(&frame->call);
	slow_down(frame->call.name);

	rc = refusal(flags);
	if (rc != CUDA_SUCCESS)
		return rc;
	sim_lock();
	frame->locked = true;
	return sim_fault(frame->call.name);
}

CUresult sim_leave(struct sim_frame *frame, CUresult result)
{
	const struct gmtsim_tool *tool = sim_tool();

	if (frame->locked)
		sim_unlock();
	frame->call.result = result;
	if (tool && tool->exit)
		tool->exit(&frame->call);
	sim_self.per_thread = frame->outer_per_thread;
	sim_self.correlation = frame->outer_correlation;
	return result;
}

/*
 * As drivers do (WSL's): by its handle, as any program would. A tool that hands the driver a hook
 * of its own sends it round in circles.
 */
static CUresult look_up_self(void)
{
	void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	CUresult (*init)(unsigned int) = NULL;
	void *found = self ? dlsym(self, "cuInit") : NULL;

	memcpy(&init, &found, sizeof(init));
	if (init != cuInit || dlsym(self, "cuMemAlloc_v2") != (void *)cuMemAlloc_v2 ||
	    dlsym(self, "cuGetProcAddress_v2") != (void *)cuGetProcAddress_v2)
		return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
	return init(0);
}

/* Entries that the program sees, called from inside: a tool's own start must bear that. */
static CUresult call_back(void)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	void *symbol = dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2"), *found;

	memcpy(&get, &symbol, sizeof(get));
	return get ? get("cuMemAlloc", &found, SIM_VERSION, 0, NULL) : CUDA_SUCCESS;
}

SIM_API_EARLY(cuInit, (unsigned int Flags), (Flags))
{
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (atomic_load(&state) == FORKED)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (atomic_load(&state) == READY)
		return CUDA_SUCCESS;
	if (sim_config()->devices == 0)
		return CUDA_ERROR_NO_DEVICE;
	if (sim_config()->self_lookup && !looked_up) {
		CUresult rc;

		looked_up = true;
		sim_unlock();
		rc = look_up_self();
		if (rc == CUDA_SUCCESS)
			rc = call_back();
		sim_lock();
		if (rc != CUDA_SUCCESS)
			return rc;
	}
	/* By now it may have been done from inside. */
	if (atomic_load(&state) == READY)
		return CUDA_SUCCESS;
	if (!sim_devices_open())
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_atfork(NULL, NULL, forked);
	atexit(leave_process);
	atomic_store(&state, READY);
	return CUDA_SUCCESS;
}

SIM_API_EARLY(cuDriverGetVersion, (int *driverVersion), (driverVersion))
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = SIM_VERSION;
	return CUDA_SUCCESS;
}

/* The export tables are private to NVIDIA's own libraries: there are none here. */
SIM_API_EARLY(cuGetExportTable, (const void **ppExportTable, const CUuuid *pExportTableId),
	      (ppExportTable, pExportTableId))
{
	(void)ppExportTable;
	(void)pExportTableId;
	return CUDA_ERROR_NOT_SUPPORTED;
}
