/* Estimates the bytes of arrays. Pure: any thread, no lock. */
#include "preload/array_bytes.h"

#include <stddef.h>

/* The smallest rectangle of elements that takes whole bytes, all planes together. */
struct tile {
	uint8_t format, bytes, width, height;
	bool per_channel; /* bytes are of one channel */
};

/* CUarray_format of cuda.h 13.0, by number: older headers lack names. */
static const struct tile tiles[] = {
	/* integers of 8, 16 and 32 bits, without and with a sign; half; float */
	{ 0x01, 1, 1, 1, true },
	{ 0x02, 2, 1, 1, true },
	{ 0x03, 4, 1, 1, true },
	{ 0x08, 1, 1, 1, true },
	{ 0x09, 2, 1, 1, true },
	{ 0x0a, 4, 1, 1, true },
	{ 0x10, 2, 1, 1, true },
	{ 0x20, 4, 1, 1, true },
	/* UNORM_INT_101010_2 */
	{ 0x50, 4, 1, 1, false },
	/* BC1 to BC7, each twice: without and with sRGB or a sign */
	{ 0x91, 8, 4, 4, false },
	{ 0x92, 8, 4, 4, false },
	{ 0x93, 16, 4, 4, false },
	{ 0x94, 16, 4, 4, false },
	{ 0x95, 16, 4, 4, false },
	{ 0x96, 16, 4, 4, false },
	{ 0x97, 8, 4, 4, false },
	{ 0x98, 8, 4, 4, false },
	{ 0x99, 16, 4, 4, false },
	{ 0x9a, 16, 4, 4, false },
	{ 0x9b, 16, 4, 4, false },
	{ 0x9c, 16, 4, 4, false },
	{ 0x9d, 16, 4, 4, false },
	{ 0x9e, 16, 4, 4, false },
	/* 4:2:0 in planes, 10 bits take 16: P010, P016, NV12 */
	{ 0x9f, 12, 2, 2, false },
	{ 0xa1, 12, 2, 2, false },
	{ 0xb0, 6, 2, 2, false },
	/* 4:2:2: NV16, P210, P216 in planes; YUY2, Y210, Y216 packed */
	{ 0xa2, 4, 2, 1, false },
	{ 0xa3, 8, 2, 1, false },
	{ 0xa4, 8, 2, 1, false },
	{ 0xa5, 4, 2, 1, false },
	{ 0xa6, 8, 2, 1, false },
	{ 0xa7, 8, 2, 1, false },
	/* 4:4:4: AYUV, Y410, Y416 packed; planar of 8 and 10 bits; semi-planar of 8 and 16 */
	{ 0xa8, 4, 1, 1, false },
	{ 0xa9, 4, 1, 1, false },
	{ 0xb1, 8, 1, 1, false },
	{ 0xb2, 3, 1, 1, false },
	{ 0xb3, 6, 1, 1, false },
	{ 0xb4, 3, 1, 1, false },
	{ 0xb5, 6, 1, 1, false },
	/* UNORM_INT8X1, X2, X4, UNORM_INT16X1, X2, X4; the same of SNORM */
	{ 0xc0, 1, 1, 1, false },
	{ 0xc1, 2, 1, 1, false },
	{ 0xc2, 4, 1, 1, false },
	{ 0xc3, 2, 1, 1, false },
	{ 0xc4, 4, 1, 1, false },
	{ 0xc5, 8, 1, 1, false },
	{ 0xc6, 1, 1, 1, false },
	{ 0xc7, 2, 1, 1, false },
	{ 0xc8, 4, 1, 1, false },
	{ 0xc9, 2, 1, 1, false },
	{ 0xca, 4, 1, 1, false },
	{ 0xcb, 8, 1, 1, false },
};

static const struct tile *tile_of(uint32_t format)
{
	for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
		if (tiles[i].format == format)
			return &tiles[i];
	return NULL;
}

static uint64_t at_least_1(uint64_t extent)
{
	return extent ? extent : 1;
}

static uint64_t tiles_along(uint64_t extent, uint64_t tile)
{
	return extent / tile + (extent % tile != 0);
}

bool gmt_array_bytes(const struct gmt_array_shape *shape, uint64_t *bytes)
{
	const struct tile *tile = tile_of(shape->format);
	bool layers = shape->flags & (GMT_ARRAY_LAYERED | GMT_ARRAY_CUBEMAP);
	uint64_t width = at_least_1(shape->width), height = at_least_1(shape->height);
	uint64_t depth = at_least_1(shape->depth);
	uint64_t per_tile, nr_tiles = 0;

	*bytes = 0;
	if (!tile)
		return false;
	if (shape->flags & (GMT_ARRAY_SPARSE | GMT_ARRAY_DEFERRED))
		return true;
	per_tile = tile->per_channel ? (uint64_t)tile->bytes * shape->channels : tile->bytes;
	for (uint32_t level = 0;; level++) {
		nr_tiles +=
			tiles_along(width, tile->width) * tiles_along(height, tile->height) * depth;
		/* The driver makes no level after that of one element, however many are asked. */
		if (level + 1 >= shape->levels ||
		    (width == 1 && height == 1 && (layers || depth == 1)))
			break;
		width = at_least_1(width / 2);
		height = at_least_1(height / 2);
		if (!layers)
			depth = at_least_1(depth / 2);
	}
	*bytes = nr_tiles * per_tile;
	return true;
}
