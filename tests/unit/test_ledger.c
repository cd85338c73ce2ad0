#include <string.h>

#include "preload/arena.h"
#include "preload/ledger.h"
#include "tests/test.h"

static struct gmt_ledger *new_ledger(void)
{
	return gmt_ledger_new(gmt_arena_new());
}

/* One allocation at time t, from its own site per stack. */
static void allocate(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint32_t stack,
		     uint64_t t)
{
	struct gmt_event event = {
		.addr = addr,
		.bytes = bytes,
		.time_ns = t,
		.stack = stack,
		.kind = GMT_KIND_DEVICE,
	};
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);
}

static void release(struct gmt_ledger *ledger, uint64_t addr, uint64_t t)
{
	struct gmt_claim claim;

	gmt_ledger_free(ledger, addr, t, &claim);
	gmt_ledger_freed(ledger, &claim);
}

static struct gmt_share share(const struct gmt_ledger *ledger, uint32_t site,
			      enum gmt_moment moment)
{
	return gmt_ledger_share(ledger, ledger->sites[site - 1], moment);
}

TEST(ledger_counts_what_is_live_per_site_kind_and_device)
{
	struct gmt_ledger *ledger = new_ledger();

	allocate(ledger, 0x10000000, 256, 1, 1);
	allocate(ledger, 0x20000000, 512, 1, 2);
	allocate(ledger, 0x30000000, 64, 2, 3);
	release(ledger, 0x20000000, 4);

	CHECK(ledger->nr_sites == 2);
	CHECK(ledger->sites[0]->live_bytes == 256 && ledger->sites[0]->live_blocks == 1);
	CHECK(ledger->sites[0]->allocations == 2 && ledger->sites[0]->frees == 1);
	CHECK(ledger->sites[0]->peak_bytes == 768 && ledger->sites[0]->total_bytes == 768);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_bytes == 320);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].peak_bytes == 832);
	CHECK(ledger->devices[0].scope.live_bytes == 320);
	return TEST_PASS;
}

TEST(ledger_knows_who_made_the_peak_after_the_owners_have_gone)
{
	struct gmt_ledger *ledger = new_ledger();

	allocate(ledger, 0x10000000, 100, 1, 1);
	allocate(ledger, 0x20000000, 200, 2, 2);
	allocate(ledger, 0x30000000, 300, 3, 3); /* the peak: 600 */
	release(ledger, 0x20000000, 4);
	release(ledger, 0x30000000, 5);
	allocate(ledger, 0x40000000, 250, 2, 6); /* 350 */

	CHECK(ledger->devices[0].scope.peak_bytes == 600);
	CHECK(ledger->devices[0].scope.peak_time_ns == 3);
	CHECK(share(ledger, 1, GMT_MOMENT_DEVICE_PEAK).bytes == 100);
	CHECK(share(ledger, 2, GMT_MOMENT_DEVICE_PEAK).bytes == 200);
	CHECK(share(ledger, 3, GMT_MOMENT_DEVICE_PEAK).bytes == 300);
	CHECK(share(ledger, 3, GMT_MOMENT_DEVICE_PEAK).blocks == 1);
	return TEST_PASS;
}

TEST(ledger_gives_a_site_that_came_after_the_peak_no_share_of_it)
{
	struct gmt_ledger *ledger = new_ledger();

	allocate(ledger, 0x10000000, 600, 1, 1);
	release(ledger, 0x10000000, 2);
	allocate(ledger, 0x20000000, 10, 2, 3);

	CHECK(share(ledger, 1, GMT_MOMENT_DEVICE_PEAK).bytes == 600);
	CHECK(share(ledger, 2, GMT_MOMENT_DEVICE_PEAK).bytes == 0);
	return TEST_PASS;
}

/* Every event of a random run is also kept in a plain list; the peak's owners are recounted. */
TEST(ledger_peak_owners_equal_a_recount_of_a_random_run)
{
	enum { BLOCKS = 64, SITES = 7, EVENTS = 20000 };
	struct gmt_ledger *ledger = new_ledger();
	uint64_t bytes[BLOCKS] = { 0 }, live[SITES] = { 0 }, at_peak[SITES] = { 0 };
	uint64_t total = 0, peak = 0, random = 88172645463325252u;

	for (uint64_t t = 1; t <= EVENTS; t++) {
		unsigned int i, site;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		i = random % BLOCKS;
		site = i % SITES;
		if (bytes[i]) {
			release(ledger, (uint64_t)(i + 1) << 32, t);
			live[site] -= bytes[i];
			total -= bytes[i];
			bytes[i] = 0;
			continue;
		}
		bytes[i] = 1 + (random >> 20) % 5000000;
		allocate(ledger, (uint64_t)(i + 1) << 32, bytes[i], site + 1, t);
		live[site] += bytes[i];
		total += bytes[i];
		if (total > peak) {
			peak = total;
			memcpy(at_peak, live, sizeof(live));
		}
	}

	CHECK(ledger->devices[0].scope.peak_bytes == peak);
	for (uint32_t i = 0; i < ledger->nr_sites; i++) {
		const struct gmt_site *site = ledger->sites[i];

		CHECK(gmt_ledger_share(ledger, site, GMT_MOMENT_DEVICE_PEAK).bytes ==
		      at_peak[site->stack - 1]);
		CHECK(gmt_ledger_share(ledger, site, GMT_MOMENT_PROCESS_PEAK).bytes ==
		      at_peak[site->stack - 1]);
	}
	return TEST_PASS;
}

TEST(ledger_a_refused_free_leaves_everything_as_it_was)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_claim claim;

	allocate(ledger, 0x10000000, 256, 1, 5);
	CHECK(gmt_ledger_free(ledger, 0x10000000, 9, &claim));
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_bytes == 0);
	CHECK(gmt_ledger_unfree(ledger, &claim, GMT_BLOCK_LIVE));

	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_bytes == 256);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].frees == 0);
	CHECK(ledger->sites[0]->live_blocks == 1 && ledger->sites[0]->frees == 0);
	CHECK(ledger->devices[0].pages.small_pages == 1);
	CHECK(gmt_ledger_find(ledger, 0x10000080) != NULL);
	CHECK(gmt_ledger_free(ledger, 0x10000000, 10, &claim) && claim.event.time_ns == 5);
	return TEST_PASS;
}

TEST(ledger_counts_a_free_in_teardown_apart)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_claim claim;

	allocate(ledger, 0x10000000, 256, 1, 1);
	gmt_ledger_free(ledger, 0x10000000, 2, &claim);
	gmt_ledger_unfree(ledger, &claim, GMT_BLOCK_TEARDOWN);

	CHECK(ledger->sites[0]->teardown_bytes == 256);
	CHECK(ledger->sites[0]->live_bytes == 256);
	return TEST_PASS;
}

TEST(ledger_a_free_of_an_unknown_address_changes_nothing)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_claim claim;

	allocate(ledger, 0x10000000, 4096, 1, 1);

	CHECK(!gmt_ledger_free(ledger, 0x10000100, 2, &claim) && !claim.claimed);
	CHECK(gmt_ledger_unfree(ledger, &claim, GMT_BLOCK_LIVE));
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_blocks == 1);
	return TEST_PASS;
}

TEST(ledger_an_address_that_comes_again_replaces_the_block_whose_free_went_unseen)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = { .addr = 0x10000000, .bytes = 8, .kind = GMT_KIND_DEVICE };
	bool replaced = false;

	allocate(ledger, 0x10000000, 4096, 1, 1);

	CHECK(gmt_ledger_alloc(ledger, &event, &replaced) && replaced);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_bytes == 8);
	return TEST_PASS;
}

TEST(ledger_host_memory_is_no_part_of_a_device)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = {
		.addr = 0x10000000,
		.bytes = 4096,
		.kind = GMT_KIND_PINNED,
		.device = GMT_NO_DEVICE,
	};
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);

	CHECK(ledger->kinds[GMT_KIND_PINNED].live_bytes == 4096);
	CHECK(ledger->process_scope.live_bytes == 0);
	CHECK(share(ledger, 1, GMT_MOMENT_PROCESS_PEAK).bytes == 0);
	return TEST_PASS;
}

TEST(ledger_small_blocks_pin_their_pages_and_the_worst_moment_is_kept)
{
	struct gmt_ledger *ledger = new_ledger();
	uint64_t base = 0x7f0000000000, half = 512 * 1024;
	const struct gmt_page_totals *pages = &ledger->devices[0].pages;

	/* Two pages of four blocks; three of four are freed: a page each is pinned by 512 KiB. */
	for (uint64_t i = 0; i < 8; i++)
		allocate(ledger, base + i * half, half, i % 4 ? 1 : 2, i + 1);
	CHECK(pages->small_pages == 2 && pages->worst_pinned == 3 * half);
	for (uint64_t i = 0; i < 8; i++)
		if (i % 4)
			release(ledger, base + i * half, 100 + i);

	CHECK(pages->small_pages == 2 && pages->small_bytes == 2 * half);
	CHECK(pages->worst_pinned == 2 * GMT_PAGE_BYTES - 2 * half);
	CHECK(pages->worst_time_ns == 107);
	release(ledger, base, 200);
	CHECK(pages->small_pages == 1);
	CHECK(share(ledger, 1, GMT_MOMENT_WORST_PINNED).bytes == 2 * half);
	return TEST_PASS;
}

TEST(ledger_large_blocks_round_up_to_whole_pages)
{
	struct gmt_ledger *ledger = new_ledger();

	allocate(ledger, 0x40000000, GMT_SMALL_MAX + 1, 1, 1);
	allocate(ledger, 0x80000000, 2 * GMT_PAGE_BYTES, 1, 2);

	CHECK(ledger->devices[0].pages.rounding_bytes == GMT_PAGE_BYTES - GMT_SMALL_MAX - 1);
	CHECK(ledger->devices[0].pages.small_pages == 0);
	return TEST_PASS;
}

TEST(ledger_a_kernel_counts_each_block_it_was_passed_once)
{
	struct gmt_ledger *ledger = new_ledger();
	uint64_t words[] = { 0x10000010, 0x10000020, 0x20000000, 0x99999999 };
	uint32_t kernel;

	allocate(ledger, 0x10000000, 256, 1, 1);
	allocate(ledger, 0x20000000, 512, 2, 2);
	allocate(ledger, 0x30000000, 1024, 3, 3);
	kernel = gmt_ledger_kernel(ledger, "_Z5scalePf", 0);
	CHECK(kernel == gmt_ledger_kernel(ledger, "_Z5scalePf", 0));
	CHECK(gmt_ledger_launch(ledger, kernel, 0, words, 4));
	CHECK(gmt_ledger_launch(ledger, kernel, 7, words, 4));

	CHECK(ledger->kernels->launches == 2);
	CHECK(ledger->kernels->bytes_referenced == 768);
	CHECK(ledger->kernels->nr_streams == 2);
	CHECK(ledger->kernels->sites && ledger->kernels->sites->next &&
	      !ledger->kernels->sites->next->next);
	return TEST_PASS;
}

TEST(ledger_pools_count_what_is_used_of_each)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = { .bytes = 100, .kind = GMT_KIND_POOL };
	bool replaced;

	for (uint64_t i = 1; i <= 4; i++) {
		event.addr = i << 32;
		event.pool = i % 2;
		gmt_ledger_alloc(ledger, &event, &replaced);
	}
	release(ledger, UINT64_C(1) << 32, 9);

	CHECK(ledger->pools->pool == 1 && ledger->pools->used_bytes == 100);
	CHECK(ledger->pools->used_peak == 200);
	CHECK(ledger->pools->next->pool == 0 && ledger->pools->next->used_bytes == 200);
	return TEST_PASS;
}

TEST(ledger_a_live_block_takes_at_most_160_bytes)
{
	enum { BLOCKS = 1000000, SITES = 1000 };
	struct gmt_arena *arena = gmt_arena_new();
	struct gmt_ledger *ledger = gmt_ledger_new(arena);
	uint64_t before;

	for (uint64_t i = 0; i < SITES; i++)
		allocate(ledger, 0x100000 + i * 512, 512, (uint32_t)i + 1, 1);
	before = gmt_arena_used(arena);
	for (uint64_t i = 0; i < BLOCKS; i++)
		allocate(ledger, 0x7f0000000000 + i * 512, 512, 1 + i % SITES, i);

	CHECK((gmt_arena_used(arena) - before) / BLOCKS <= 160);
	CHECK(ledger->nr_sites == SITES);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_blocks == BLOCKS + SITES);
	return TEST_PASS;
}

static enum gmt_error_kind refused(struct gmt_ledger *ledger, uint64_t addr, bool wrong_family)
{
	struct gmt_event event = { .addr = addr, .time_ns = 50, .stack = 9 };
	struct gmt_claim claim;
	const struct gmt_error *last;

	gmt_ledger_free(ledger, addr, 50, &claim);
	gmt_ledger_unfree(ledger, &claim, GMT_BLOCK_LIVE);
	gmt_ledger_bad_free(ledger, &event, &claim, wrong_family);
	for (last = ledger->errors; last->next;)
		last = last->next;
	return last->kind;
}

TEST(ledger_tells_what_a_refused_free_was)
{
	struct gmt_ledger *ledger = new_ledger();

	allocate(ledger, 0x10000000, 4096, 1, 1);
	allocate(ledger, 0x20000000, 4096, 2, 2);
	release(ledger, 0x20000000, 3);

	CHECK(refused(ledger, 0x10000100, false) == GMT_ERROR_INTERIOR_FREE);
	CHECK(refused(ledger, 0x20000000, false) == GMT_ERROR_DOUBLE_FREE);
	CHECK(refused(ledger, 0x30000000, false) == GMT_ERROR_UNKNOWN_FREE);
	CHECK(refused(ledger, 0x10000000, true) == GMT_ERROR_WRONG_FAMILY);
	CHECK(refused(ledger, 0x10000000, false) == GMT_ERROR_FAILED_FREE);
	CHECK(ledger->nr_errors == 5 && ledger->errors->alloc_stack == 1);
	CHECK(ledger->kinds[GMT_KIND_DEVICE].live_blocks == 1);
	return TEST_PASS;
}

TEST(ledger_counts_equal_errors_in_one_and_bounds_the_others)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = { .addr = 0x5000, .stack = 9 };
	struct gmt_claim claim = { .claimed = 0 };

	for (int i = 0; i < 7; i++)
		CHECK(gmt_ledger_bad_free(ledger, &event, &claim, false));
	CHECK(ledger->nr_errors == 1 && ledger->errors->count == 7);
	for (event.stack = 10; event.stack < 1009; event.stack++)
		CHECK(gmt_ledger_bad_free(ledger, &event, &claim, false));

	CHECK(!gmt_ledger_bad_free(ledger, &event, &claim, false));
	CHECK(ledger->nr_errors == 1000);
	return TEST_PASS;
}
