/*
 * What the rows of arrays in driver_apis.def say about bytes: the descriptors of both versions have
 * the same fields, of other widths. Included after <cuda.h> by the file that defines the hooks.
 */
#ifndef GMT_PRELOAD_WRAP_ARRAY_H
#define GMT_PRELOAD_WRAP_ARRAY_H

#include "preload/array_bytes.h"
#include "preload/counters.h"

_Static_assert(GMT_ARRAY_LAYERED == CUDA_ARRAY3D_LAYERED &&
		       GMT_ARRAY_CUBEMAP == CUDA_ARRAY3D_CUBEMAP &&
		       GMT_ARRAY_SPARSE == CUDA_ARRAY3D_SPARSE &&
		       GMT_ARRAY_DEFERRED == CUDA_ARRAY3D_DEFERRED_MAPPING,
	       "flags of array_bytes.h are those of cuda.h");

static inline uint64_t gmt_array_estimate(struct gmt_array_shape shape)
{
	uint64_t bytes;

	if (!gmt_array_bytes(&shape, &bytes))
		gmt_count(GMT_COUNT_unknown_formats);
	return bytes;
}

#define GMT_ARRAY_BYTES_2D(desc)                                                                   \
	gmt_array_estimate((struct gmt_array_shape){ .width = (desc)->Width,                       \
						     .height = (desc)->Height,                     \
						     .format = (uint32_t)(desc)->Format,           \
						     .channels = (desc)->NumChannels,              \
						     .levels = 1 })

#define GMT_ARRAY_BYTES_3D(desc, nr_levels)                                                        \
	gmt_array_estimate((struct gmt_array_shape){ .width = (desc)->Width,                       \
						     .height = (desc)->Height,                     \
						     .depth = (desc)->Depth,                       \
						     .format = (uint32_t)(desc)->Format,           \
						     .channels = (desc)->NumChannels,              \
						     .flags = (desc)->Flags,                       \
						     .levels = (nr_levels) })

#endif
