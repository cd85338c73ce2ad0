/* case: the driver's entries are seen whichever way and in whichever version they were got (GM65)
 */
/* links: none */
#include <dlfcn.h>

#include <cuda.h>

#include "program.h"

typedef CUresult get_address_fn(const char *name, void **pfn, int version, cuuint64_t flags,
				CUdriverProcAddressQueryResult *status);

static void *driver;
static get_address_fn *get_address;

static void *of_driver(const char *name)
{
	void *entry = dlsym(driver, name);

	EXPECT(entry);
	return entry;
}

static void *of_version(const char *name, int version)
{
	CUdriverProcAddressQueryResult status;
	void *entry = NULL;

	MUST(get_address(name, &entry, version, 0, &status));
	EXPECT(entry);
	return entry;
}

static void start(void)
{
	CUresult (*init)(unsigned int);
	CUresult (*device_get)(CUdevice *, int);
	CUresult (*retain)(CUcontext *, CUdevice);
	CUresult (*set_current)(CUcontext);
	CUcontext context;
	CUdevice device;

	*(void **)&init = of_driver("cuInit");
	*(void **)&device_get = of_driver("cuDeviceGet");
	*(void **)&retain = of_version("cuDevicePrimaryCtxRetain", 12000);
	*(void **)&set_current = of_version("cuCtxSetCurrent", 11030);
	MUST(init(0));
	MUST(device_get(&device, 0));
	MUST(retain(&context, device));
	MUST(set_current(context));
}

static void leak(int version)
{
	CUresult (*allocate)(CUdeviceptr *, size_t);
	CUdeviceptr memory;

	*(void **)&allocate = of_version("cuMemAlloc", version);
	MUST(allocate(&memory, 4 * MIB));
}

static void allocate_and_free(int version)
{
	CUresult (*allocate)(CUdeviceptr *, size_t);
	CUresult (*give_back)(CUdeviceptr);
	CUdeviceptr memory;

	*(void **)&allocate = of_version("cuMemAlloc", version);
	*(void **)&give_back = of_version("cuMemFree", version);
	MUST(allocate(&memory, 1 * MIB));
	MUST(give_back(memory));
}

int main(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	EXPECT(driver);
	*(void **)&get_address = of_driver("cuGetProcAddress_v2");
	/* Asked for by itself, it must not open a way past the tracer. */
	*(void **)&get_address = of_version("cuGetProcAddress", 12000);
	start();

	leak(11030);
	leak(12000);
	leak(12000);
	allocate_and_free(11030);
	allocate_and_free(12000);

	/* A name that nobody hooks is the driver's own, by either way. */
	EXPECT(of_version("cuCtxSynchronize", 11030) == of_driver("cuCtxSynchronize"));
	return 0;
}
