/*
 * case: an ABI that came after gmtrace is the driver's own: it is not taken for the newest one that
 * is known, and coverage names it (future_entry.sh)
 */
/* links: none */
#include <dlfcn.h>

#include <cuda.h>

#include "program.h"

/* As the simulated driver has it (tests/sim/driver_lookup.h). */
#define FUTURE	     14000
#define FUTURE_LEVEL 14

typedef CUresult get_address_fn(const char *name, void **pfn, int version, cuuint64_t flags,
				CUdriverProcAddressQueryResult *status);

static get_address_fn *get_address;

static void *of_version(const char *name, int version)
{
	void *entry = NULL;

	if (get_address(name, &entry, version, 0, NULL) != CUDA_SUCCESS)
		return NULL;
	EXPECT(entry);
	return entry;
}

static void start(void *driver)
{
	CUresult (*init)(unsigned int);
	CUresult (*device_get)(CUdevice *, int);
	CUresult (*retain)(CUcontext *, CUdevice);
	CUresult (*set_current)(CUcontext);
	CUcontext context;
	CUdevice device;

	*(void **)&get_address = dlsym(driver, "cuGetProcAddress_v2");
	*(void **)&init = of_version("cuInit", 2000);
	*(void **)&device_get = of_version("cuDeviceGet", 2000);
	*(void **)&retain = of_version("cuDevicePrimaryCtxRetain", 7000);
	*(void **)&set_current = of_version("cuCtxSetCurrent", 4000);
	MUST(init(0));
	MUST(device_get(&device, 0));
	MUST(retain(&context, device));
	MUST(set_current(context));
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	CUresult (*known)(CUdeviceptr *, size_t);
	CUresult (*of_future)(CUdeviceptr *, size_t, int);
	CUdeviceptr memory;

	EXPECT(driver);
	start(driver);
	*(void **)&known = of_version("cuMemAlloc", 13000);
	*(void **)&of_future = of_version("cuMemAlloc", FUTURE);
	if (!of_future)
		return 77;
	EXPECT(of_future(&memory, 3000, 0) == CUDA_ERROR_INVALID_VALUE);
	MUST(of_future(&memory, 3000, FUTURE_LEVEL));
	MUST(known(&memory, 5000));
	return 0;
}
