/*
 * Threads, their device, primary contexts and the last error of the simulated runtime.
 *
 * NVIDIA's runtime makes primary contexts through a private export table; this one retains them
 * with the public call. A context that the application made current itself is left alone.
 */
#include "tests/sim/runtime.h"

#include <pthread.h>
#include <stdatomic.h>

#define MAX_DEVICES 64

static __thread struct {
	int device;
	CUcontext bound;    /* the primary context made current here, if it was us */
	unsigned int epoch; /* of resets, when it was bound */
	cudaError_t last_error;
} self;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[MAX_DEVICES]; /* NULL: not retained */
static atomic_uint epoch;

cudaError_t rt_bind_device(int device)
{
	int count = 0;
	unsigned int now;
	CUcontext context;
	CUresult rc = rt.cuDeviceGetCount(&count);

	if (rc != CUDA_SUCCESS)
		return (cudaError_t)rc;
	if (device < 0 || device >= count || device >= MAX_DEVICES)
		return cudaErrorInvalidDevice;

	pthread_mutex_lock(&lock);
	now = atomic_load(&epoch);
	if (!primary[device])
		rc = rt.cuDevicePrimaryCtxRetain(&primary[device], device);
	context = primary[device];
	pthread_mutex_unlock(&lock);
	if (rc == CUDA_SUCCESS)
		rc = rt.cuCtxSetCurrent(context);
	if (rc != CUDA_SUCCESS)
		return (cudaError_t)rc;

	self.device = device;
	self.bound = context;
	self.epoch = now;
	return cudaSuccess;
}

cudaError_t rt_enter(void)
{
	CUcontext current = NULL;
	cudaError_t err = rt_load();

	if (err != cudaSuccess)
		return err;
	err = (cudaError_t)rt.cuCtxGetCurrent(&current);
	if (err != cudaSuccess)
		return err;
	/* After a reset, the handle that this thread still has current is a dead one. */
	if (current && (current != self.bound || self.epoch == atomic_load(&epoch)))
		return cudaSuccess;
	return rt_bind_device(self.device);
}

CUresult rt_device(CUdevice *device)
{
	CUcontext current = NULL;

	if (rt.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
	    rt.cuCtxGetDevice(device) == CUDA_SUCCESS)
		return CUDA_SUCCESS;
	*device = self.device;
	return CUDA_SUCCESS;
}

CUresult rt_reset_device(CUdevice device)
{
	CUresult rc;

	pthread_mutex_lock(&lock);
	atomic_fetch_add(&epoch, 1);
	if (self.bound) {
		rt.cuCtxSetCurrent(NULL);
		self.bound = NULL;
	}
	rc = rt.cuDevicePrimaryCtxReset(device);
	if (primary[device]) {
		rt.cuDevicePrimaryCtxRelease(device);
		primary[device] = NULL;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

cudaError_t rt_done(cudaError_t err)
{
	if (err != cudaSuccess)
		self.last_error = err;
	return err;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t err = self.last_error;

	self.last_error = cudaSuccess;
	return err;
}

cudaError_t cudaPeekAtLastError(void)
{
	return self.last_error;
}

cudaError_t cudaSetDevice(int device)
{
	return RT_CALL_BARE(rt_bind_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
	(void)device_flags;
	(void)flags;
	return RT_CALL_BARE(rt_bind_device(device));
}

cudaError_t cudaGetDevice(int *device)
{
	return RT_CALL_BARE(rt_device(device));
}
