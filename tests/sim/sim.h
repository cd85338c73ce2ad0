/*
 * The private seam between the simulated driver and the simulated CUPTI.
 *
 * libcupti.so.13 (simulated) finds gmtsim_set_tool in the loaded simulated libcuda.so.1 and
 * registers one tool. The driver then reports API calls and finished kernels to it, on the calling
 * thread, with no lock of the driver held. Nothing of this exists in NVIDIA's libraries.
 */
#ifndef GMT_TESTS_SIM_H
#define GMT_TESTS_SIM_H

#include <stdint.h>

#include <cuda.h>

/* One driver API call, as CUPTI's callback data shows it. */
struct gmtsim_call {
	const char *name;   /* ABI name, "cuLaunchKernel_ptsz" */
	const char *symbol; /* mangled kernel name for launches, else NULL */
	const void *params; /* generated_cuda_meta.h's struct for the entry, or NULL */
	CUcontext context;
	uint32_t correlation; /* the same number in the kernel's record */
	CUresult result;      /* valid on exit only */
};

/* One finished kernel. Times are nanoseconds of CLOCK_REALTIME, as CUPTI gives them. */
struct gmtsim_kernel {
	const char *name;
	uint64_t start_ns, end_ns;
	uint32_t device, context_id, stream_id, correlation;
	uint32_t grid[3], block[3];
};

struct gmtsim_tool {
	void (*enter)(const struct gmtsim_call *call);
	void (*exit)(const struct gmtsim_call *call);
	void (*kernel)(const struct gmtsim_kernel *kernel);
	void (*context)(CUcontext context, int created); /* after creation, before destruction */
};

/* NULL removes the tool. Returns the tool there was. */
__attribute__((visibility("default"))) const struct gmtsim_tool *
gmtsim_set_tool(const struct gmtsim_tool *tool);

#endif
