/* What the copy entries of both ABIs share. */
#ifndef GMT_TESTS_SIM_DRIVER_COPY_H
#define GMT_TESTS_SIM_DRIVER_COPY_H

#include "driver.h"

/* One end of a flat copy. */
struct sim_end {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t offset;
};

#define SIM_HOST(p)                                                                                \
	((struct sim_end){ .type = CU_MEMORYTYPE_HOST, .host = (const void *)(uintptr_t)(p) })
#define SIM_DEVICE(p) ((struct sim_end){ .type = CU_MEMORYTYPE_DEVICE, .device = (p) })
#define SIM_ANY(p)    ((struct sim_end){ .type = CU_MEMORYTYPE_UNIFIED, .device = (p) })
#define SIM_IN_ARRAY(a, from)                                                                      \
	((struct sim_end){ .type = CU_MEMORYTYPE_ARRAY, .array = (a), .offset = (from) })

CUresult sim_copy(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult sim_copy_flat(struct sim_end to, struct sim_end from, size_t bytes, CUstream stream);
/* Width and height in elements. */
CUresult sim_fill(CUdeviceptr dst, size_t pitch, unsigned int value, unsigned int element,
		  size_t width, size_t height, CUstream stream);

#endif
