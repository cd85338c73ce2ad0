#include <string.h>

#include "preload/arena.h"
#include "tests/test.h"

TEST(arena_memory_is_aligned_and_blocks_do_not_overlap)
{
	struct gmt_arena *arena = gmt_arena_new();
	unsigned char *blocks[2000];

	for (int i = 0; i < 2000; i++) {
		blocks[i] = gmt_arena_alloc(arena, (size_t)i + 1);
		CHECK(blocks[i] && (uintptr_t)blocks[i] % 16 == 0);
		memset(blocks[i], i & 0xff, (size_t)i + 1);
	}

	for (int i = 0; i < 2000; i++)
		for (int at = 0; at <= i; at++)
			CHECK(blocks[i][at] == (i & 0xff));
	return TEST_PASS;
}

TEST(arena_gives_freed_memory_out_again)
{
	struct gmt_arena *arena = gmt_arena_new();
	uint64_t before;
	void *block;

	for (size_t bytes = 1; bytes < 1 << 20; bytes += bytes / 3 + 1) {
		block = gmt_arena_alloc(arena, bytes);
		gmt_arena_free(arena, block, bytes);
		CHECK(gmt_arena_alloc(arena, bytes) == block);
		gmt_arena_free(arena, block, bytes);
	}
	before = gmt_arena_bytes(arena);
	for (int i = 0; i < 1000000; i++) {
		block = gmt_arena_alloc(arena, 144);
		gmt_arena_free(arena, block, 144);
	}

	CHECK(gmt_arena_bytes(arena) == before);
	gmt_arena_destroy(arena);
	return TEST_PASS;
}

TEST(arena_a_request_that_cannot_be_met_is_refused)
{
	struct gmt_arena *arena = gmt_arena_new();

	CHECK(!gmt_arena_alloc(arena, SIZE_MAX));
	CHECK(!gmt_arena_alloc(arena, SIZE_MAX / 8));
	CHECK(gmt_arena_zalloc(arena, 100));
	return TEST_PASS;
}
