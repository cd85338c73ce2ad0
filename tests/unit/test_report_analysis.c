/* From a ledger to groups, totals, peaks, fragmentation and kernels. */
#include "report/analysis.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"

static uint32_t app_stack(struct gmt_ledger *ledger, const char *function)
{
	static unsigned int offset = 0x1000;
	uint32_t app = ledger->nr_modules ? 1 : module(ledger, "/opt/app", 0);

	offset += 0x10;
	name(app, offset, function, "app.c", offset);
	return stack(ledger, app, offset, END);
}

static struct gmt_report *report_of(struct gmt_ledger *ledger)
{
	return gmt_analysis_make(ledger, symbolizer());
}

static bool at(const struct gmt_report_stack *found, const char *function)
{
	return found->nr_frames && strcmp(found->frames[0].function, function) == 0;
}

TEST(analysis_groups_leaks_by_site_and_sorts_them)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t small = app_stack(ledger, "small"), large = app_stack(ledger, "large");
	uint32_t large_again = app_stack(ledger, "large");
	struct gmt_report *report;

	allocate(ledger, 0x7f0000000000, 100, small, 10);
	allocate(ledger, 0x7f0000100000, 5 * MIB, large, 20);
	allocate(ledger, 0x7f0001000000, 3 * MIB, large_again, 30);
	allocate(ledger, 0x7f0002000000, 3 * MIB, large, 40);
	allocate(ledger, 0x7f0003000000, 7, small, 50);
	release(ledger, 0x7f0003000000, 60);
	report = report_of(ledger);

	CHECK(report->nr_leaks == 2);
	CHECK(report->leaks[0].bytes == 11 * MIB && report->leaks[0].blocks == 3);
	CHECK(at(report->leaks[0].stack, "large"));
	CHECK(report->leaks[0].first_ns == 20 && report->leaks[0].last_ns == 40);
	CHECK(report->leaks[0].nr_sizes == 2);
	CHECK(report->leaks[0].sizes[0].size == 3 * MIB && report->leaks[0].sizes[0].blocks == 2);
	CHECK(report->leaks[0].sizes[1].size == 5 * MIB && report->leaks[0].sizes[1].blocks == 1);
	CHECK(report->leaks[1].bytes == 100 && at(report->leaks[1].stack, "small"));
	CHECK(report->leaked_bytes == 11 * MIB + 100 && report->leaked_blocks == 4);
	CHECK(report->allocations == 5 && report->frees == 1);
	CHECK(report->nr_sites == 2);
	CHECK(at(report->sites[0].stack, "large") && report->sites[0].allocations == 3);
	return TEST_PASS;
}

TEST(analysis_keeps_devices_kinds_and_calls_of_a_site_apart)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t id = app_stack(ledger, "work");
	struct gmt_report *report;

	allocate(ledger, 0x7f0000000000, 64, id, 1);
	allocate_as(ledger, 0x7f0001000000, 64, id, 2, GMT_API_RUNTIME, GMT_KIND_DEVICE, 1);
	allocate_as(ledger, 0x7f0002000000, 64, id, 3, GMT_API_RUNTIME, GMT_KIND_MANAGED, 0);
	allocate_as(ledger, 0x7f0003000000, 64, id, 4, 0, GMT_KIND_DEVICE, 0);
	report = report_of(ledger);

	CHECK(report->nr_leaks == 4);
	/* Equal in all else: by kind, device and call. */
	CHECK(report->leaks[0].kind == GMT_KIND_DEVICE && report->leaks[0].device == 0);
	CHECK(strcmp(report->leaks[0].api, "cuMemAlloc_v2") == 0);
	CHECK(strcmp(report->leaks[1].api, "cudaMalloc") == 0);
	CHECK(report->leaks[2].device == 1);
	CHECK(report->leaks[3].kind == GMT_KIND_MANAGED);
	CHECK(report->nr_sites == 1 && report->sites[0].allocations == 4);
	return TEST_PASS;
}

TEST(analysis_lists_but_does_not_count_what_is_no_leak)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t id = app_stack(ledger, "work");
	struct gmt_report *report;

	allocate(ledger, 0x7f0000000000, 64, id, 1);
	allocate(ledger, 0x7f0000001000, 32, id, 2);
	refuse_free(ledger, 0x7f0000000000, 3);
	allocate_as(ledger, 0x7f0002000000, 16, id, 4, 0, GMT_KIND_IMPORTED, 0);
	report = report_of(ledger);

	CHECK(report->nr_leaks == 3);
	CHECK(report->leaks[0].leak_class == GMT_CLASS_FREED_AT_TEARDOWN);
	CHECK(report->leaks[0].bytes == 64 && !report->leaks[0].counted);
	CHECK(report->leaks[1].leak_class == GMT_CLASS_ONE_TIME && report->leaks[1].counted);
	CHECK(report->leaks[2].kind == GMT_KIND_IMPORTED && !report->leaks[2].counted);
	CHECK(report->leaked_bytes == 32 && report->leaked_blocks == 1);
	return TEST_PASS;
}

TEST(analysis_counts_what_went_with_its_context)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_event event = {
		.addr = 0x7f0000000000,
		.bytes = 64,
		.stack = app_stack(ledger, "work"),
		.api = API_MALLOC | GMT_API_RUNTIME,
		.kind = GMT_KIND_DEVICE,
		.context = 7,
	};
	struct gmt_report *report;
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);
	gmt_ledger_reclaim(ledger, 7, 10);
	report = report_of(ledger);

	CHECK(report->nr_leaks == 1 && report->leaks[0].leak_class == GMT_CLASS_RESET);
	CHECK(report->leaks[0].counted && report->leaked_bytes == 64);
	CHECK(report->devices[0].pinned_bytes == 0);
	CHECK(report->devices[0].pinners.nr_shares == 0 ||
	      report->devices[0].pinners.shares[0].pages == 0);
	return TEST_PASS;
}

TEST(analysis_sums_up_sizes_beyond_the_limit)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t id = app_stack(ledger, "work");
	const struct gmt_report_leak *leak;
	uint64_t bytes = 0, blocks = 0;

	for (uint64_t i = 1; i <= 100; i++)
		allocate(ledger, 0x7f0000000000 + i * 0x1000, i, id, i);
	leak = &report_of(ledger)->leaks[0];

	CHECK(leak->nr_sizes == GMT_REPORT_SIZES + 1);
	CHECK(leak->sizes[0].size == 100 && !leak->sizes[0].rest);
	for (uint32_t i = 0; i < leak->nr_sizes; i++) {
		bytes += leak->sizes[i].rest ? leak->sizes[i].size
					     : leak->sizes[i].size * leak->sizes[i].blocks;
		blocks += leak->sizes[i].blocks;
	}
	CHECK(leak->sizes[GMT_REPORT_SIZES].rest && leak->sizes[GMT_REPORT_SIZES].blocks == 36);
	CHECK(bytes == leak->bytes && blocks == leak->blocks);
	return TEST_PASS;
}

TEST(analysis_names_the_owners_of_every_peak)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t first = app_stack(ledger, "first"), second = app_stack(ledger, "second");
	struct gmt_report *report;

	allocate(ledger, 0x7f0000000000, 6 * MIB, first, 1);
	allocate(ledger, 0x7f0001000000, 2 * MIB, second, 2);
	release(ledger, 0x7f0000000000, 3);
	allocate_as(ledger, 0x7f0002000000, MIB, second, 4, GMT_API_RUNTIME, GMT_KIND_DEVICE, 1);
	report = report_of(ledger);

	CHECK(report->nr_peaks == 3);
	CHECK(report->peaks[0].device == 0 && report->peaks[0].bytes == 8 * MIB);
	CHECK(report->peaks[0].time_ns == 2 && report->peaks[0].owners.nr_shares == 2);
	CHECK(at(report->peaks[0].owners.shares[0].stack, "first"));
	CHECK(report->peaks[0].owners.shares[0].bytes == 6 * MIB);
	CHECK(report->peaks[1].device == 1 && report->peaks[1].bytes == MIB);
	CHECK(report->peaks[2].device == GMT_NO_DEVICE && report->peaks[2].bytes == 8 * MIB);
	return TEST_PASS;
}

TEST(analysis_finds_who_pins_pages_now_and_at_the_worst_moment)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t keeper = app_stack(ledger, "keeper"), passer = app_stack(ledger, "passer");
	struct gmt_report *report;
	const struct gmt_report_device *device;

	allocate(ledger, 0x7f0000000000, 512, keeper, 1);
	allocate(ledger, 0x7f0000100000, 512, keeper, 2);
	allocate(ledger, 0x7f0000200000, 512, keeper, 3);
	allocate(ledger, 0x7f0000400000, 1024, passer, 4);
	release(ledger, 0x7f0000400000, 5);
	report = report_of(ledger);
	device = &report->devices[0];

	CHECK(report->nr_devices == 1);
	CHECK(device->device->pages.small_pages == 2);
	CHECK(device->pinned_bytes == 4 * MIB - 1536);
	CHECK(device->pinners.shares[0].pages == 2 && device->pinners.shares[0].blocks == 3);
	CHECK(at(device->pinners.shares[0].stack, "keeper"));
	CHECK(device->device->pages.worst_pinned == 6 * MIB - 2560);
	CHECK(device->worst_pinners.nr_shares == 2);
	CHECK(device->worst_pinners.shares[1].bytes == 1024);
	CHECK(at(device->worst_pinners.shares[1].stack, "passer"));
	return TEST_PASS;
}

TEST(analysis_balance_adds_up)
{
	struct gmt_ledger *ledger = new_ledger();
	const struct gmt_device_sample sample = {
		.time_ns = 9,
		.free_bytes = 900 * MIB,
		.total_bytes = 1000 * MIB,
		.ordinal = 0,
		.valid = 1,
	};
	const struct gmt_pool_sample pool = {
		.reserved_bytes = 32 * MIB,
		.used_bytes = 2 * MIB,
		.valid = 1,
	};
	uint32_t id = app_stack(ledger, "work");
	const struct gmt_report_balance *sums;

	allocate(ledger, 0x7f0000000000, 3 * MIB, id, 1);
	allocate(ledger, 0x7f0001000000, 1024, id, 2);
	gmt_ledger_sample_device(ledger, &sample);
	gmt_ledger_sample_pool(ledger, &pool);
	sums = &report_of(ledger)->devices[0].balance;

	CHECK(sums->valid && sums->driver_used == 100 * MIB);
	CHECK(sums->tracked == 3 * MIB + 1024);
	CHECK(sums->rounding == MIB && sums->pinned_pages == 2 * MIB - 1024);
	CHECK(sums->pool_idle == 30 * MIB);
	CHECK((int64_t)(sums->tracked + sums->rounding + sums->pinned_pages + sums->pool_idle) +
		      sums->unaccounted ==
	      100 * (int64_t)MIB);
	return TEST_PASS;
}

TEST(analysis_says_what_kernels_were_passed)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t id = app_stack(ledger, "work"), rare, often;
	uint64_t passed[2] = { 0x7f0000000800, 0x7f0001000000 };
	struct gmt_report *report;

	allocate(ledger, 0x7f0000000000, 4096, id, 1);
	allocate(ledger, 0x7f0001000000, 8192, id, 2);
	rare = gmt_ledger_kernel(ledger, "_Z4axpyPf", 0);
	often = gmt_ledger_kernel(ledger, "fill", 0);
	gmt_ledger_launch(ledger, rare, 0x10, passed, 2);
	gmt_ledger_launch(ledger, often, 0, passed, 1);
	gmt_ledger_launch(ledger, often, 0, passed, 1);
	report = report_of(ledger);

	CHECK(report->nr_kernels == 2);
	CHECK(strcmp(report->kernels[0].name, "fill") == 0 && report->kernels[0].launches == 2);
	CHECK(report->kernels[0].passed.nr_shares == 1);
	CHECK(report->kernels[0].passed.shares[0].blocks == 1);
	CHECK(strcmp(report->kernels[1].name, "axpy(float*)") == 0);
	CHECK(report->kernels[1].passed_blocks == 2);
	CHECK(report->kernels[1].passed.shares[0].bytes == 12288);
	return TEST_PASS;
}

TEST(analysis_gives_the_middle_of_lifetimes)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t id = app_stack(ledger, "work");
	double median;

	/* Lifetimes of 1, 1000 and 1,000,000 ns. */
	for (uint64_t life = 1; life <= 1000000; life *= 1000) {
		allocate(ledger, 0x7f0000000000, 64, id, 100);
		release(ledger, 0x7f0000000000, 100 + life);
	}
	median = report_of(ledger)->sites[0].lifetime_median;

	CHECK(median > 512e-9 && median < 1024e-9);
	return TEST_PASS;
}

TEST(analysis_turns_losses_into_notes_and_an_open_verdict)
{
	struct gmt_ledger *ledger = new_ledger();
	struct gmt_report *report;

	ledger->counters[0].name = "dropped_events";
	ledger->counters[0].text = "dropped";
	ledger->counters[0].value = 2;
	ledger->counters[1].name = "unknown_frees";
	ledger->counters[1].text = "frees of an address that was not recorded";
	ledger->counters[1].value = 3;
	ledger->counters[2].name = "failed_frees";
	ledger->counters[2].text = "frees that the driver refused";
	gmt_ledger_note(ledger, "a note");
	report = report_of(ledger);

	CHECK(report->dropped_events == 2);
	CHECK(report->nr_notes == 2);
	CHECK(strcmp(report->notes[0], "a note") == 0);
	CHECK(strcmp(report->notes[1], "frees of an address that was not recorded: 3") == 0);
	CHECK(report->verdict.status == GMT_VERDICT_INCOMPLETE);
	return TEST_PASS;
}

TEST(analysis_of_an_empty_ledger_is_not_clean)
{
	struct gmt_report *report = report_of(new_ledger());

	CHECK(report && report->nr_leaks == 0 && report->nr_peaks == 0);
	CHECK(report->verdict.status == GMT_VERDICT_INCOMPLETE);
	return TEST_PASS;
}

TEST(analysis_takes_a_look_up_of_names_for_being_heard)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t room = 0;

	gmt_ledger_push_name(ledger, &ledger->passed_through, &ledger->nr_passed_through, &room,
			     "cuDeviceGet");

	CHECK(report_of(ledger)->verdict.status == GMT_VERDICT_CLEAN);
	return TEST_PASS;
}
