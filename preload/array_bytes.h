/* What an array takes on its device, as far as its descriptor tells: the driver does not say. */
#ifndef GMT_PRELOAD_ARRAY_BYTES_H
#define GMT_PRELOAD_ARRAY_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Flags of cuda.h that bear on the size. */
#define GMT_ARRAY_LAYERED  0x01u
#define GMT_ARRAY_CUBEMAP  0x04u
#define GMT_ARRAY_SPARSE   0x40u
#define GMT_ARRAY_DEFERRED 0x80u

/* A descriptor of any version: extents in elements, 0 for a dimension that is not there. */
struct gmt_array_shape {
	uint64_t width, height, depth; /* depth: or the number of layers and faces */
	uint32_t format;	       /* enum CUarray_format */
	uint32_t channels;
	uint32_t flags;
	uint32_t levels; /* of a mipmapped array, as asked for; else 1 */
};

/*
 * Estimates without the driver's own padding and alignment. Memory that is mapped into the array
 * later is not its own: 0 bytes. False: the format is not known, and *bytes is 0.
 */
bool gmt_array_bytes(const struct gmt_array_shape *shape, uint64_t *bytes);

#endif
