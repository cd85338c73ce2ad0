#include <cuda.h>

#include "preload/array_bytes.c"
#include "tests/test.h"

#define UNKNOWN UINT64_MAX

static uint64_t bytes_of(struct gmt_array_shape shape)
{
	uint64_t bytes = 0;

	return gmt_array_bytes(&shape, &bytes) ? bytes : UNKNOWN;
}

/* Of one level, with as many channels as the format has by itself. */
static uint64_t plane(uint32_t format, uint32_t channels, uint64_t width, uint64_t height)
{
	return bytes_of((struct gmt_array_shape){ width, height, 0, format, channels, 0, 1 });
}

TEST(array_dimensions_that_are_not_there_count_once)
{
	CHECK(plane(CU_AD_FORMAT_FLOAT, 1, 1024, 256) == 1048576);
	CHECK(plane(CU_AD_FORMAT_FLOAT, 1, 100, 0) == 400);
	CHECK(plane(CU_AD_FORMAT_UNSIGNED_INT8, 4, 10, 10) == 400);
	CHECK(bytes_of((struct gmt_array_shape){ 8, 0, 5, CU_AD_FORMAT_HALF, 2, 0, 1 }) == 160);
	return TEST_PASS;
}

TEST(array_layers_and_faces_are_the_depth_and_are_not_halved)
{
	struct gmt_array_shape shape = { 4, 4, 6, CU_AD_FORMAT_FLOAT, 1, 0, 3 };

	CHECK(bytes_of(shape) == 4 * (4 * 4 * 6 + 2 * 2 * 3 + 1));
	shape.flags = CUDA_ARRAY3D_CUBEMAP;
	CHECK(bytes_of(shape) == 4 * 6 * (16 + 4 + 1));
	shape.flags = CUDA_ARRAY3D_LAYERED;
	CHECK(bytes_of(shape) == 4 * 6 * (16 + 4 + 1));
	return TEST_PASS;
}

TEST(array_levels_end_at_one_element)
{
	struct gmt_array_shape shape = { 512, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0, 3 };

	CHECK(bytes_of(shape) == 4 * (512 * 512 + 256 * 256 + 128 * 128));
	shape.width = 4;
	shape.height = 1;
	shape.levels = UINT32_MAX;
	CHECK(bytes_of(shape) == 4 * (4 + 2 + 1));
	shape.flags = CUDA_ARRAY3D_LAYERED;
	shape.depth = 7;
	CHECK(bytes_of(shape) == 7 * 4 * (4 + 2 + 1));
	shape.levels = 0;
	CHECK(bytes_of(shape) == 7 * 4 * 4);
	return TEST_PASS;
}

TEST(array_without_memory_of_its_own_is_0_bytes)
{
	struct gmt_array_shape shape = { 64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE, 1 };

	CHECK(bytes_of(shape) == 0);
	shape.flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
	CHECK(bytes_of(shape) == 0);
	return TEST_PASS;
}

TEST(array_of_an_unknown_format_is_said_to_be)
{
	uint64_t bytes = 1;

	CHECK(!gmt_array_bytes(&(struct gmt_array_shape){ 1, 1, 1, 0x7f, 1, 0, 1 }, &bytes));
	CHECK(bytes == 0);
	/* Its number fits no byte: it must not be cut to a known one. */
	CHECK(plane(0x101, 1, 1, 1) == UNKNOWN);
	return TEST_PASS;
}

#if CUDA_VERSION >= 13000
TEST(array_compressed_formats_count_blocks_of_4_by_4)
{
	for (uint32_t format = CU_AD_FORMAT_BC1_UNORM; format <= CU_AD_FORMAT_BC7_UNORM_SRGB;
	     format++) {
		bool half = format <= CU_AD_FORMAT_BC1_UNORM_SRGB ||
			    format == CU_AD_FORMAT_BC4_UNORM || format == CU_AD_FORMAT_BC4_SNORM;

		CHECK(plane(format, 4, 8, 4) == (half ? 16 : 32));
		CHECK(plane(format, 4, 9, 5) == (half ? 48 : 96));
	}
	CHECK(bytes_of((struct gmt_array_shape){ 8, 8, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0, 4 }) ==
	      8 * (4 + 1 + 1 + 1));
	return TEST_PASS;
}

TEST(array_of_every_format_has_its_size)
{
	static const struct {
		uint32_t format, channels;
		uint64_t bytes; /* of 4 by 2 elements */
	} cases[] = {
		{ CU_AD_FORMAT_UNSIGNED_INT8, 1, 8 },
		{ CU_AD_FORMAT_UNSIGNED_INT16, 2, 32 },
		{ CU_AD_FORMAT_UNSIGNED_INT32, 4, 128 },
		{ CU_AD_FORMAT_SIGNED_INT8, 1, 8 },
		{ CU_AD_FORMAT_SIGNED_INT16, 1, 16 },
		{ CU_AD_FORMAT_SIGNED_INT32, 1, 32 },
		{ CU_AD_FORMAT_HALF, 1, 16 },
		{ CU_AD_FORMAT_FLOAT, 4, 128 },
		{ CU_AD_FORMAT_NV12, 3, 12 },
		{ CU_AD_FORMAT_UNORM_INT8X1, 1, 8 },
		{ CU_AD_FORMAT_UNORM_INT8X2, 2, 16 },
		{ CU_AD_FORMAT_UNORM_INT8X4, 4, 32 },
		{ CU_AD_FORMAT_UNORM_INT16X1, 1, 16 },
		{ CU_AD_FORMAT_UNORM_INT16X2, 2, 32 },
		{ CU_AD_FORMAT_UNORM_INT16X4, 4, 64 },
		{ CU_AD_FORMAT_SNORM_INT8X1, 1, 8 },
		{ CU_AD_FORMAT_SNORM_INT8X2, 2, 16 },
		{ CU_AD_FORMAT_SNORM_INT8X4, 4, 32 },
		{ CU_AD_FORMAT_SNORM_INT16X1, 1, 16 },
		{ CU_AD_FORMAT_SNORM_INT16X2, 2, 32 },
		{ CU_AD_FORMAT_SNORM_INT16X4, 4, 64 },
		{ CU_AD_FORMAT_P010, 3, 24 },
		{ CU_AD_FORMAT_P016, 3, 24 },
		{ CU_AD_FORMAT_NV16, 3, 16 },
		{ CU_AD_FORMAT_P210, 3, 32 },
		{ CU_AD_FORMAT_P216, 3, 32 },
		{ CU_AD_FORMAT_YUY2, 2, 16 },
		{ CU_AD_FORMAT_Y210, 2, 32 },
		{ CU_AD_FORMAT_Y216, 2, 32 },
		{ CU_AD_FORMAT_AYUV, 4, 32 },
		{ CU_AD_FORMAT_Y410, 4, 32 },
		{ CU_AD_FORMAT_Y416, 4, 64 },
		{ CU_AD_FORMAT_Y444_PLANAR8, 3, 24 },
		{ CU_AD_FORMAT_Y444_PLANAR10, 3, 48 },
		{ CU_AD_FORMAT_YUV444_8bit_SemiPlanar, 3, 24 },
		{ CU_AD_FORMAT_YUV444_16bit_SemiPlanar, 3, 48 },
		{ CU_AD_FORMAT_UNORM_INT_101010_2, 4, 32 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(plane(cases[i].format, cases[i].channels, 4, 2) == cases[i].bytes);
	/* These and the 14 compressed ones are all that there are. */
	CHECK(sizeof(tiles) / sizeof(tiles[0]) == sizeof(cases) / sizeof(cases[0]) + 14);
	return TEST_PASS;
}
#endif
