#include <string.h>

#include "preload/arena.h"
#include "preload/ledger.h"
#include "preload/ledger_vmm.h"
#include "tests/test.h"

#define MIB UINT64_C(1048576)

static struct gmt_ledger *new_ledger(void)
{
	return gmt_ledger_new(gmt_arena_new());
}

static void create_on(struct gmt_ledger *ledger, uint64_t handle, uint64_t bytes, uint64_t t,
		      int32_t device)
{
	struct gmt_event event = {
		.addr = handle,
		.bytes = bytes,
		.time_ns = t,
		.stack = 1,
		.kind = GMT_KIND_VMM,
		.device = device,
	};

	gmt_ledger_handle_created(ledger, &event);
}

static void create(struct gmt_ledger *ledger, uint64_t handle, uint64_t bytes, uint64_t t)
{
	create_on(ledger, handle, bytes, t, 0);
}

static void retain(struct gmt_ledger *ledger, uint64_t handle)
{
	struct gmt_event event = {
		.addr = handle,
		.stack = 2,
		.kind = GMT_KIND_IMPORTED,
		.device = GMT_NO_DEVICE,
	};

	gmt_ledger_handle_retained(ledger, &event);
}

static void release(struct gmt_ledger *ledger, uint64_t handle, uint64_t t)
{
	struct gmt_vmm_claim claim;

	gmt_ledger_release(ledger, handle, t, &claim);
	gmt_ledger_vmm_done(ledger, &claim);
}

static void map(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint64_t handle)
{
	gmt_ledger_map(ledger, addr, bytes, 0, handle, 5);
}

static void unmap(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint64_t t)
{
	struct gmt_vmm_claim claim;

	gmt_ledger_unmap(ledger, addr, bytes, t, &claim);
	gmt_ledger_vmm_done(ledger, &claim);
}

static uint64_t live(const struct gmt_ledger *ledger)
{
	return ledger->kinds[GMT_KIND_VMM].live_bytes;
}

static bool note_view(const struct gmt_block_view *block, void *data)
{
	*(struct gmt_block_view *)data = *block;
	return true;
}

/* The last live handle. */
static struct gmt_block_view last(const struct gmt_ledger *ledger)
{
	struct gmt_block_view view = { 0 };

	gmt_ledger_each_block(ledger, note_view, &view);
	return view;
}

#define VA UINT64_C(0x7f0000000000)

TEST(handle_counts_once_on_its_device_and_its_site_until_released)
{
	struct gmt_ledger *ledger = new_ledger();

	create_on(ledger, 7, 4 * MIB, 1, 3);

	CHECK(live(ledger) == 4 * MIB && ledger->kinds[GMT_KIND_VMM].live_blocks == 1);
	CHECK(ledger->devices[3].scope.live_bytes == 4 * MIB);
	CHECK(ledger->process_scope.peak_bytes == 4 * MIB);
	CHECK(ledger->sites[0]->live_bytes == 4 * MIB && ledger->sites[0]->stack == 1);
	CHECK(last(ledger).handle.state == GMT_HANDLE_UNRELEASED_UNMAPPED);

	release(ledger, 7, 2);

	CHECK(live(ledger) == 0 && ledger->devices[3].scope.live_bytes == 0);
	CHECK(ledger->kinds[GMT_KIND_VMM].allocations == 1);
	CHECK(ledger->kinds[GMT_KIND_VMM].frees == 1 && ledger->sites[0]->frees == 1);
	CHECK(last(ledger).handle.state == GMT_HANDLE_NONE);
	return TEST_PASS;
}

TEST(handle_mapped_released_unmapped_is_live_until_the_last)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	CHECK(last(ledger).handle.state == GMT_HANDLE_UNRELEASED_MAPPED);
	release(ledger, 7, 2);
	CHECK(live(ledger) == 4 * MIB && ledger->kinds[GMT_KIND_VMM].frees == 0);
	CHECK(last(ledger).handle.state == GMT_HANDLE_RELEASED_MAPPED);
	CHECK(ledger->vmm.mapped_bytes == 4 * MIB);

	unmap(ledger, VA, 4 * MIB, 3);

	CHECK(live(ledger) == 0 && ledger->kinds[GMT_KIND_VMM].frees == 1);
	CHECK(ledger->vmm.mapped_bytes == 0 && ledger->vmm.mappings == 0);
	return TEST_PASS;
}

TEST(handle_mapped_unmapped_released_is_live_until_the_last)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	unmap(ledger, VA, 4 * MIB, 2);
	CHECK(live(ledger) == 4 * MIB);
	CHECK(last(ledger).handle.state == GMT_HANDLE_UNRELEASED_UNMAPPED);

	release(ledger, 7, 3);

	CHECK(live(ledger) == 0);
	return TEST_PASS;
}

TEST(handle_released_before_it_is_mapped_is_gone_and_the_mapping_is_nobodys)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	release(ledger, 7, 2);
	map(ledger, VA, 4 * MIB, 7);

	CHECK(live(ledger) == 0 && ledger->vmm.mapped_bytes == 4 * MIB);
	CHECK(!gmt_ledger_find(ledger, VA));

	unmap(ledger, VA, 4 * MIB, 3);

	CHECK(ledger->vmm.mapped_bytes == 0 && ledger->kinds[GMT_KIND_VMM].frees == 1);
	return TEST_PASS;
}

TEST(handle_unmapped_before_it_was_mapped_is_as_it_was)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	unmap(ledger, VA, 4 * MIB, 2);
	map(ledger, VA, 4 * MIB, 7);
	release(ledger, 7, 3);

	CHECK(live(ledger) == 4 * MIB);
	CHECK(last(ledger).handle.state == GMT_HANDLE_RELEASED_MAPPED);
	return TEST_PASS;
}

TEST(handle_retained_once_too_often_is_told_so)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	retain(ledger, 7);
	release(ledger, 7, 2);
	unmap(ledger, VA, 4 * MIB, 3);

	CHECK(live(ledger) == 4 * MIB && ledger->nr_sites == 1);
	CHECK(last(ledger).handle.state == GMT_HANDLE_RETAINED);

	release(ledger, 7, 4);

	CHECK(live(ledger) == 0);
	return TEST_PASS;
}

TEST(handle_released_but_mapped_can_be_retained_again)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	release(ledger, 7, 2);
	retain(ledger, 7);
	unmap(ledger, VA, 4 * MIB, 3);
	CHECK(live(ledger) == 4 * MIB && ledger->kinds[GMT_KIND_IMPORTED].live_blocks == 0);

	release(ledger, 7, 4);

	CHECK(live(ledger) == 0);
	return TEST_PASS;
}

TEST(handle_is_live_until_the_last_of_several_mappings)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	map(ledger, VA + 4 * MIB, 4 * MIB, 7);
	map(ledger, VA + 16 * MIB, 4 * MIB, 7);
	release(ledger, 7, 2);
	CHECK(ledger->vmm.mapped_bytes == 12 * MIB && live(ledger) == 4 * MIB);

	unmap(ledger, VA, 4 * MIB, 3);
	CHECK(ledger->vmm.mapped_bytes == 8 * MIB && live(ledger) == 4 * MIB);

	/* A hole on both sides, and one mapping that is not inside whole. */
	unmap(ledger, VA + 2 * MIB, 16 * MIB, 4);
	CHECK(ledger->vmm.mapped_bytes == 4 * MIB && live(ledger) == 4 * MIB);

	unmap(ledger, VA, 20 * MIB, 5);
	CHECK(ledger->vmm.mappings == 0 && live(ledger) == 0);
	return TEST_PASS;
}

TEST(unmap_takes_every_handle_of_the_range)
{
	struct gmt_ledger *ledger = new_ledger();

	for (uint64_t i = 0; i < 100; i++) {
		create(ledger, 100 + i, 2 * MIB, i);
		map(ledger, VA + 2 * MIB * i, 2 * MIB, 100 + i);
		release(ledger, 100 + i, i);
	}
	CHECK(live(ledger) == 200 * MIB && ledger->kinds[GMT_KIND_VMM].live_blocks == 100);

	unmap(ledger, VA + 2 * MIB, 198 * MIB, 200);

	CHECK(live(ledger) == 2 * MIB && last(ledger).addr == 100);
	return TEST_PASS;
}

TEST(handle_value_of_a_dead_handle_is_given_out_again)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	release(ledger, 7, 2);
	create(ledger, 7, 2 * MIB, 3);

	CHECK(live(ledger) == 2 * MIB && ledger->kinds[GMT_KIND_VMM].allocations == 2);
	return TEST_PASS;
}

TEST(handle_value_given_out_again_while_its_first_memory_is_mapped)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	release(ledger, 7, 2);
	create(ledger, 7, 2 * MIB, 3);
	CHECK(live(ledger) == 6 * MIB);

	release(ledger, 7, 4);
	CHECK(live(ledger) == 4 * MIB);

	unmap(ledger, VA, 4 * MIB, 5);
	CHECK(live(ledger) == 0);
	return TEST_PASS;
}

TEST(handle_value_may_equal_an_address)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = { .addr = 0x10000000, .bytes = 64, .kind = GMT_KIND_DEVICE };
	struct gmt_claim claim;
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);
	create(ledger, 0x10000000, 2 * MIB, 1);
	release(ledger, 0x10000000, 2);

	CHECK(!replaced && ledger->kinds[GMT_KIND_DEVICE].live_bytes == 64);
	CHECK(gmt_ledger_free(ledger, 0x10000000, 3, &claim));
	return TEST_PASS;
}

TEST(release_that_is_refused_changes_nothing)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_vmm_claim claim;

	create(ledger, 7, 4 * MIB, 1);
	gmt_ledger_release(ledger, 7, 2, &claim);
	CHECK(live(ledger) == 0);
	gmt_ledger_vmm_refused(ledger, &claim, GMT_BLOCK_LIVE);

	CHECK(live(ledger) == 4 * MIB && ledger->kinds[GMT_KIND_VMM].frees == 0);
	CHECK(ledger->sites[0]->frees == 0 && ledger->sites[0]->lifetimes[0] == 0);
	CHECK(last(ledger).handle.state == GMT_HANDLE_UNRELEASED_UNMAPPED);

	release(ledger, 7, 3);
	release(ledger, 7, 4);
	CHECK(live(ledger) == 0 && ledger->kinds[GMT_KIND_VMM].frees == 1);
	return TEST_PASS;
}

TEST(release_that_is_refused_at_shutdown_is_no_leak)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_vmm_claim claim;

	create(ledger, 7, 4 * MIB, 1);
	gmt_ledger_release(ledger, 7, 2, &claim);
	gmt_ledger_vmm_refused(ledger, &claim, GMT_BLOCK_TEARDOWN);
	CHECK(last(ledger).state == GMT_BLOCK_TEARDOWN);
	CHECK(ledger->sites[0]->teardown_bytes == 4 * MIB);

	release(ledger, 7, 3);
	CHECK(ledger->sites[0]->teardown_bytes == 0 && live(ledger) == 0);
	return TEST_PASS;
}

TEST(unmap_that_is_refused_changes_nothing)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_vmm_claim claim;

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	map(ledger, VA + 4 * MIB, 2 * MIB, 7);
	release(ledger, 7, 2);
	gmt_ledger_unmap(ledger, VA, 6 * MIB, 3, &claim);
	CHECK(live(ledger) == 0 && ledger->vmm.mappings == 0);
	gmt_ledger_vmm_refused(ledger, &claim, GMT_BLOCK_LIVE);

	CHECK(live(ledger) == 4 * MIB && ledger->vmm.mapped_bytes == 6 * MIB);
	CHECK(ledger->kinds[GMT_KIND_VMM].frees == 0 && last(ledger).handle.mappings == 2);
	CHECK(gmt_ledger_find(ledger, VA + 5 * MIB));
	return TEST_PASS;
}

/* Both calls are on their way at once. */
TEST(release_refused_after_the_last_mapping_went)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_vmm_claim claim;

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	gmt_ledger_release(ledger, 7, 2, &claim);
	unmap(ledger, VA, 4 * MIB, 3);
	CHECK(live(ledger) == 0);
	gmt_ledger_vmm_refused(ledger, &claim, GMT_BLOCK_LIVE);

	CHECK(live(ledger) == 4 * MIB);
	release(ledger, 7, 4);
	CHECK(live(ledger) == 0 && ledger->kinds[GMT_KIND_VMM].frees == 1);
	return TEST_PASS;
}

TEST(imported_handle_is_never_counted_as_ours)
{
	struct gmt_ledger *ledger = new_ledger();

	retain(ledger, 9);
	map(ledger, VA, 4 * MIB, 9);

	CHECK(ledger->kinds[GMT_KIND_IMPORTED].live_blocks == 1);
	CHECK(ledger->kinds[GMT_KIND_IMPORTED].live_bytes == 4 * MIB);
	CHECK(live(ledger) == 0 && ledger->process_scope.live_bytes == 0);

	release(ledger, 9, 2);
	unmap(ledger, VA, 4 * MIB, 3);

	CHECK(ledger->kinds[GMT_KIND_IMPORTED].live_bytes == 0);
	CHECK(ledger->sites[0]->live_bytes == 0 && ledger->sites[0]->total_bytes == 4 * MIB);
	return TEST_PASS;
}

TEST(physical_memory_of_the_host_is_on_no_device)
{
	struct gmt_ledger *ledger = new_ledger();

	create_on(ledger, 7, 4 * MIB, 1, GMT_NO_DEVICE);

	CHECK(live(ledger) == 4 * MIB && ledger->process_scope.live_bytes == 0);
	release(ledger, 7, 2);
	CHECK(live(ledger) == 0 && ledger->process_scope.live_bytes == 0);
	return TEST_PASS;
}

TEST(kernel_that_is_passed_a_mapped_address_is_passed_the_handle)
{
	struct gmt_ledger *ledger = new_ledger();
	uint64_t words[] = { VA + 12345, VA + 9 * MIB, 7 };
	uint32_t kernel = gmt_ledger_kernel(ledger, "k", 0);

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	map(ledger, VA + 8 * MIB, 4 * MIB, 7);
	gmt_ledger_launch(ledger, kernel, 0, words, 3);

	CHECK(ledger->kernels->sites->blocks == 1 && ledger->kernels->sites->bytes == 4 * MIB);
	unmap(ledger, VA, 12 * MIB, 2);
	CHECK(!gmt_ledger_find(ledger, VA) && !gmt_ledger_find(ledger, VA + 8 * MIB));
	release(ledger, 7, 3);
	return TEST_PASS;
}

TEST(reservation_is_given_back_whole_or_not_at_all)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_vmm_claim claim;

	gmt_ledger_reserve(ledger, VA, 64 * MIB);
	gmt_ledger_reserve(ledger, VA + 64 * MIB, 2 * MIB);
	gmt_ledger_unreserve(ledger, VA, 32 * MIB, &claim);
	CHECK(!claim.reservation && ledger->vmm.reserved_bytes == 66 * MIB);

	gmt_ledger_unreserve(ledger, VA, 64 * MIB, &claim);
	CHECK(ledger->vmm.reserved_bytes == 2 * MIB);
	gmt_ledger_vmm_refused(ledger, &claim, GMT_BLOCK_LIVE);
	CHECK(ledger->vmm.reserved_bytes == 66 * MIB && ledger->vmm.reservations == 2);

	gmt_ledger_unreserve(ledger, VA, 64 * MIB, &claim);
	gmt_ledger_vmm_done(ledger, &claim);
	CHECK(ledger->vmm.reserved_bytes == 2 * MIB);
	return TEST_PASS;
}

TEST(handles_come_in_order_of_creation)
{
	struct gmt_ledger *ledger = new_ledger();

	create(ledger, 3, MIB, 1);
	create(ledger, 2, MIB, 2);
	create(ledger, 1, MIB, 3);
	release(ledger, 1, 4);
	CHECK(last(ledger).addr == 2);
	release(ledger, 3, 5);
	create(ledger, 4, MIB, 6);
	CHECK(last(ledger).addr == 4);
	release(ledger, 4, 7);
	release(ledger, 2, 8);
	CHECK(!ledger->handle_list && ledger->handle_list_end == &ledger->handle_list);
	return TEST_PASS;
}

TEST(free_of_mapped_addresses_is_of_another_family)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = { .addr = VA, .stack = 9 };
	struct gmt_claim claim;

	create(ledger, 7, 4 * MIB, 1);
	map(ledger, VA, 4 * MIB, 7);
	CHECK(!gmt_ledger_free(ledger, VA, 2, &claim));
	gmt_ledger_bad_free(ledger, &event, &claim, false);

	CHECK(ledger->errors->kind == GMT_ERROR_WRONG_FAMILY && ledger->errors->alloc_stack == 1);
	return TEST_PASS;
}
