/* The library itself: version, errors, the seam to the driver, and what the driver is asked. */
#include "tests/sim/cupti_sim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What is used of the driver: the seam, and three entries of CUDA's own API by ABI name. */
static struct {
	void *library;
	__typeof__(&gmtsim_set_tool) set_tool;
	CUresult (*context_id)(CUcontext, unsigned long long *);
	CUresult (*context_device)(CUdevice *, CUcontext);
	CUresult (*stream_id)(CUstream, unsigned long long *);
	CUresult (*stream_id_ptsz)(CUstream, unsigned long long *);
} driver;

static __thread CUptiResult last_error;
static __thread unsigned int inside; /* the driver is called by us: nobody's business */

enum sim_cupti_fault sim_cupti_fault(void)
{
	static const struct {
		const char *name;
		enum sim_cupti_fault fault;
	} faults[] = {
		{ "busy", SIM_CUPTI_BUSY },
		{ "notinit", SIM_CUPTI_NOTINIT },
		{ "old", SIM_CUPTI_OLD },
		{ "empty", SIM_CUPTI_EMPTY },
	};
	const char *wanted = getenv("GMTSIM_CUPTI");

	for (size_t i = 0; wanted && i < sizeof(faults) / sizeof(*faults); i++) {
		if (strcmp(wanted, faults[i].name) == 0)
			return faults[i].fault;
	}
	return SIM_CUPTI_FINE;
}

CUptiResult sim_cupti_done(CUptiResult result)
{
	if (result != CUPTI_SUCCESS)
		last_error = result;
	return result;
}

CUptiResult sim_cupti_check(void)
{
	return sim_cupti_fault() == SIM_CUPTI_NOTINIT ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

static void on_enter(const struct gmtsim_call *call)
{
	if (inside)
		return;
	sim_cupti_launch(call);
	sim_cupti_call(call, CUPTI_API_ENTER);
}

static void on_exit_call(const struct gmtsim_call *call)
{
	if (!inside)
		sim_cupti_call(call, CUPTI_API_EXIT);
}

static const struct gmtsim_tool tool = {
	.enter = on_enter,
	.exit = on_exit_call,
	.kernel = sim_cupti_kernel,
	.context = sim_cupti_context,
};

static void find(const char *name, void *entry)
{
	void *found = dlsym(driver.library, name);

	memcpy(entry, &found, sizeof(found));
}

/* Once found, it stays: the handle is never closed. False: there is no driver. */
static bool find_driver(int flags)
{
	pthread_mutex_lock(&lock);
	if (!driver.library) {
		driver.library = dlopen("libcuda.so.1", RTLD_NOW | flags);
		if (driver.library) {
			find("gmtsim_set_tool", &driver.set_tool);
			find("cuCtxGetId", &driver.context_id);
			find("cuCtxGetDevice_v2", &driver.context_device);
			find("cuStreamGetId", &driver.stream_id);
			find("cuStreamGetId_ptsz", &driver.stream_id_ptsz);
		}
	}
	pthread_mutex_unlock(&lock);
	return driver.library != NULL;
}

CUptiResult sim_cupti_update_tool(void)
{
	bool wanted = sim_cupti_callbacks_wanted() || sim_cupti_activity_wanted();

	/* NULL: a driver that is not the simulated one. */
	if (!find_driver(wanted ? 0 : RTLD_NOLOAD) || !driver.set_tool)
		return wanted ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
	driver.set_tool(wanted ? &tool : NULL);
	return CUPTI_SUCCESS;
}

static CUptiResult context_id(CUcontext context, uint32_t *id)
{
	unsigned long long wide = 0;
	CUresult rc;

	if (!context || !find_driver(RTLD_NOLOAD) || !driver.context_id)
		return CUPTI_ERROR_INVALID_CONTEXT;
	inside++;
	rc = driver.context_id(context, &wide);
	inside--;
	*id = (uint32_t)wide;
	return rc == CUDA_SUCCESS ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

uint32_t sim_cupti_context_id(CUcontext context)
{
	uint32_t id = 0;

	return context_id(context, &id) == CUPTI_SUCCESS ? id : 0;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	CUptiResult result = sim_cupti_check();

	if (result == CUPTI_SUCCESS)
		result = id ? context_id(context, id) : CUPTI_ERROR_INVALID_PARAMETER;
	return sim_cupti_done(result);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	CUdevice device = 0;
	CUresult rc;

	if (!id)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	if (!find_driver(RTLD_NOLOAD) || !driver.context_device)
		return sim_cupti_done(CUPTI_ERROR_NOT_INITIALIZED);
	inside++;
	rc = driver.context_device(&device, context);
	inside--;
	*id = (uint32_t)device;
	return sim_cupti_done(rc == CUDA_SUCCESS ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	CUresult (*get)(CUstream, unsigned long long *);
	unsigned long long wide = 0;
	CUresult rc;

	(void)context;
	if (!id)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	if (!find_driver(RTLD_NOLOAD) || !driver.stream_id || !driver.stream_id_ptsz)
		return sim_cupti_done(CUPTI_ERROR_NOT_INITIALIZED);
	get = per_thread ? driver.stream_id_ptsz : driver.stream_id;
	inside++;
	rc = get(stream, &wide);
	inside--;
	*id = (uint32_t)wide;
	return sim_cupti_done(rc == CUDA_SUCCESS ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM);
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	*version = sim_cupti_fault() == SIM_CUPTI_OLD ? 11 : CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	struct timespec now;

	if (!timestamp)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	clock_gettime(CLOCK_REALTIME, &now);
	*timestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetLastError(void)
{
	CUptiResult result = last_error;

	last_error = CUPTI_SUCCESS;
	return result;
}

CUptiResult cuptiFinalize(void)
{
	sim_cupti_callbacks_stop();
	sim_cupti_activity_stop();
	return sim_cupti_done(sim_cupti_update_tool());
}
