#include "preload/arena.h"
#include "preload/ledger.h"
#include "tests/test.h"

static void allocate(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes)
{
	struct gmt_event event = { .addr = addr, .bytes = bytes, .kind = GMT_KIND_DEVICE };
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);
}

static void release(struct gmt_ledger *ledger, uint64_t addr)
{
	struct gmt_claim claim;

	gmt_ledger_free(ledger, addr, 1, &claim);
	gmt_ledger_freed(ledger, &claim);
}

TEST(pages_find_a_block_by_any_of_its_bytes_and_by_no_other)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());
	uint64_t large = 0x7f4000000000 + 12345 * 256;

	allocate(ledger, 0x7f0000000200, 512);
	allocate(ledger, 0x7f0000000400, 1);
	allocate(ledger, large, 5 * GMT_PAGE_BYTES + 17);

	CHECK(gmt_ledger_find(ledger, 0x7f0000000200));
	CHECK(gmt_ledger_find(ledger, 0x7f00000003ff));
	CHECK(gmt_ledger_find(ledger, 0x7f0000000400));
	CHECK(!gmt_ledger_find(ledger, 0x7f0000000401));
	CHECK(!gmt_ledger_find(ledger, 0x7f00000001ff));
	for (uint64_t at = 0; at < 5 * GMT_PAGE_BYTES + 17; at += 99991)
		CHECK(gmt_ledger_find(ledger, large + at));
	CHECK(gmt_ledger_find(ledger, large + 5 * GMT_PAGE_BYTES + 16));
	CHECK(!gmt_ledger_find(ledger, large + 5 * GMT_PAGE_BYTES + 17));
	CHECK(!gmt_ledger_find(ledger, large - 1));
	return TEST_PASS;
}

TEST(pages_forget_a_freed_block_everywhere)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());
	uint64_t base = 0x7f4000000000;

	allocate(ledger, base, 8 * GMT_PAGE_BYTES);
	release(ledger, base);
	for (uint64_t at = 0; at < 8 * GMT_PAGE_BYTES; at += 65536)
		CHECK(!gmt_ledger_find(ledger, base + at));

	/* The same pages then hold small blocks. */
	for (uint64_t i = 0; i < 4096; i++)
		allocate(ledger, base + i * 512, 512);

	CHECK(gmt_ledger_find(ledger, base + 4095 * 512 + 511));
	CHECK(!gmt_ledger_find(ledger, base + 4096 * 512));
	return TEST_PASS;
}

TEST(pages_two_blocks_may_meet_in_one_page)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());
	uint64_t base = 0x7f4000000000, size = 3 * GMT_PAGE_BYTES / 2;

	allocate(ledger, base, size);
	allocate(ledger, base + size, size);
	CHECK(gmt_ledger_find(ledger, base + size - 1) != gmt_ledger_find(ledger, base + size));
	release(ledger, base);

	CHECK(!gmt_ledger_find(ledger, base + size - 1));
	CHECK(gmt_ledger_find(ledger, base + size));
	return TEST_PASS;
}

TEST(pages_refuse_addresses_that_no_machine_has)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());

	allocate(ledger, UINT64_MAX - 100, 200);
	allocate(ledger, UINT64_C(1) << 60, 200);

	CHECK(!gmt_ledger_find(ledger, UINT64_MAX - 50));
	CHECK(!gmt_ledger_find(ledger, (UINT64_C(1) << 60) + 1));
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_blocks == 2);
	release(ledger, UINT64_C(1) << 60);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_blocks == 1);
	return TEST_PASS;
}

TEST(pages_do_not_hold_arrays)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());
	struct gmt_event event = { .addr = 0x7f0000000010, .bytes = 4096, .kind = GMT_KIND_ARRAY };
	struct gmt_claim claim;
	bool replaced;

	CHECK(gmt_ledger_alloc(ledger, &event, &replaced));
	/* A handle is a host pointer: a block of pages may lie around it. */
	allocate(ledger, 0x7f0000000000, 512);

	CHECK(!gmt_ledger_find(ledger, 0x7f0000000200));
	CHECK(gmt_ledger_find(ledger, 0x7f0000000010));
	CHECK(gmt_ledger_free(ledger, 0x7f0000000000, 1, &claim));
	CHECK(!gmt_ledger_find(ledger, 0x7f0000000010));
	CHECK(gmt_ledger_free(ledger, 0x7f0000000010, 1, &claim));
	CHECK(claim.event.kind == GMT_KIND_ARRAY && claim.event.bytes == 4096);
	return TEST_PASS;
}
