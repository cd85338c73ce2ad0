/*
 * Inside the simulated libcudart.so.13.
 *
 * The runtime owns no memory of a device: it turns each cuda* call into the driver call that
 * NVIDIA's runtime makes, through entries looked up with cuGetProcAddress. What it does own is the
 * binding of threads to primary contexts (runtime_context.c) and what nvcc's start-up code
 * registered (runtime_module.c). Its functions run on the calling thread.
 */
#ifndef GMT_TESTS_SIM_RUNTIME_H
#define GMT_TESTS_SIM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

/* Only the vendor's internal build declares these; the prototypes are those of the newer ones. */
typedef PFN_cuDevicePrimaryCtxRelease_v11000 PFN_cuDevicePrimaryCtxRelease_v7000;
typedef PFN_cuDevicePrimaryCtxReset_v11000 PFN_cuDevicePrimaryCtxReset_v7000;
typedef PFN_cuDevicePrimaryCtxSetFlags_v11000 PFN_cuDevicePrimaryCtxSetFlags_v7000;

/* The entries that exist twice: for the legacy default stream and for the per-thread one. */
struct rt_streams {
#define RT_ENTRY(name, version)
#define RT_TWIN(name, version, pt_version) PFN_##name##_v##version name;
#include "tests/sim/runtime_entries.def"
#undef RT_ENTRY
#undef RT_TWIN
};

/* Complete once rt_load() has succeeded. What the driver lacks answers CUDA_ERROR_NOT_SUPPORTED. */
struct rt_driver {
#define RT_ENTRY(name, version) PFN_##name##_v##version name;
#define RT_TWIN(name, version, pt_version)
#include "tests/sim/runtime_entries.def"
#undef RT_ENTRY
#undef RT_TWIN
	struct rt_streams legacy, per_thread;
	PFN_cuInit_v2000 init;
	PFN_cuGetProcAddress_v12000 get_proc_address;
};

extern struct rt_driver rt;

/* Finds the driver and calls cuInit, once; a failure is returned and tried again next time. */
cudaError_t rt_load(void);

/* rt_load(), then makes sure that the thread has a current context. */
cudaError_t rt_enter(void);

/* Remembers a failure for cudaGetLastError and returns it. */
cudaError_t rt_done(cudaError_t err);

/* The device that calls of this thread mean. Needs rt_load(). */
CUresult rt_device(CUdevice *device);

/* Binds the thread to a device's primary context, retaining it at its first use. */
cudaError_t rt_bind_device(int device);

/* Destroys what the device's primary context holds; threads bind again at their next call. */
CUresult rt_reset_device(CUdevice device);

/* The kernel of a __global__ function or of a handle given out as cudaKernel_t. */
cudaError_t rt_find_kernel(const void *function, CUkernel *kernel);

/* The way back: what the application knows the kernel by. */
const void *rt_function_of(CUkernel kernel);

/* A handle that the application may pass where a __global__ function is expected. */
void rt_adopt_kernel(CUkernel kernel);

/* Address and size of a __device__, __constant__ or __managed__ variable. */
cudaError_t rt_find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* One array descriptor from the runtime's two. False: a format the driver does not have. */
bool rt_array_descriptor(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			 unsigned int flags, CUDA_ARRAY3D_DESCRIPTOR *out);

/* Translates a copy; asks the driver for the element size of arrays, so it needs a context. */
CUresult rt_copy_descriptor(const struct cudaMemcpy3DParms *copy, CUDA_MEMCPY3D *out);

/* A call into the driver with a context current; CUresult and cudaError_t agree by value. */
#define RT_CALL(call)                                                                              \
	__extension__({                                                                            \
		cudaError_t rt_err = rt_enter();                                                   \
		if (rt_err == cudaSuccess)                                                         \
			rt_err = (cudaError_t)(call);                                              \
		rt_done(rt_err);                                                                   \
	})

/* The same for what needs no context. */
#define RT_CALL_BARE(call)                                                                         \
	__extension__({                                                                            \
		cudaError_t rt_err = rt_load();                                                    \
		if (rt_err == cudaSuccess)                                                         \
			rt_err = (cudaError_t)(call);                                              \
		rt_done(rt_err);                                                                   \
	})

/*
 * Defines name and its per-thread twin around one body, which calls through `drv`. The body is
 * inlined so that a stack shows the exported function, as with NVIDIA's library.
 */
#define RT_STRIP(...) __VA_ARGS__
#define RT_TWINS(name, suffix, params, args)                                                       \
	static inline __attribute__((always_inline))                                               \
	cudaError_t name##_on(const struct rt_streams *drv, RT_STRIP params);                      \
	extern __typeof__(name) name##suffix;                                                      \
	cudaError_t name params                                                                    \
	{                                                                                          \
		return name##_on(&rt.legacy, RT_STRIP args);                                       \
	}                                                                                          \
	cudaError_t name##suffix params                                                            \
	{                                                                                          \
		return name##_on(&rt.per_thread, RT_STRIP args);                                   \
	}                                                                                          \
	static inline __attribute__((always_inline))                                               \
	cudaError_t name##_on(const struct rt_streams *drv, RT_STRIP params)

#endif
