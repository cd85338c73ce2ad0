/*
 * case: 64 threads that make the first look-ups of the process at the same time all get the same
 * entry, and all that they allocate is seen
 */
/* links: none */
/* threads */
#include <dlfcn.h>
#include <pthread.h>

#include <cuda.h>

#include "program.h"

#define THREADS 64

struct entries {
	CUresult (*init)(unsigned int);
	CUresult (*device_get)(CUdevice *, int);
	CUresult (*retain)(CUcontext *, CUdevice);
	CUresult (*set_current)(CUcontext);
	CUresult (*allocate)(CUdeviceptr *, size_t);
	CUresult (*give_back)(CUdeviceptr);
};

static pthread_barrier_t start;
static struct entries all[THREADS];

static void *of_version(void *driver, const char *name, int version)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	void *entry = NULL;

	*(void **)&get = dlsym(driver, "cuGetProcAddress_v2");
	EXPECT(get);
	MUST(get(name, &entry, version, 0, NULL));
	EXPECT(entry);
	return entry;
}

static void *work(void *data)
{
	struct entries *my = data;
	CUcontext context;
	CUdevice device;
	CUdeviceptr memory;
	void *driver;

	pthread_barrier_wait(&start);
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	EXPECT(driver);
	*(void **)&my->allocate = dlsym(driver, "cuMemAlloc_v2");
	*(void **)&my->give_back = of_version(driver, "cuMemFree", 12000);
	*(void **)&my->init = dlsym(driver, "cuInit");
	*(void **)&my->device_get = dlsym(driver, "cuDeviceGet");
	*(void **)&my->retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
	*(void **)&my->set_current = dlsym(driver, "cuCtxSetCurrent");
	MUST(my->init(0));
	MUST(my->device_get(&device, 0));
	MUST(my->retain(&context, device));
	MUST(my->set_current(context));
	MUST(my->allocate(&memory, 4096));
	pthread_barrier_wait(&start);
	MUST(my->give_back(memory));
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	MUST(pthread_barrier_init(&start, NULL, THREADS));
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, work, &all[i]));
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL));
	for (int i = 1; i < THREADS; i++) {
		EXPECT(all[i].allocate == all[0].allocate);
		EXPECT(all[i].give_back == all[0].give_back);
		EXPECT(all[i].init == all[0].init);
	}
	return 0;
}
