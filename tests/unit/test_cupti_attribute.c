/* The parts of cupti/ that need no CUPTI: which layout a version has, and adding records up. */
#include "cupti/attribute.c"
#include "cupti/layout.c"
#include "tests/test.h"

#define MAX_TOLD 1024

static struct {
	uint32_t kernel;
	uint64_t stream, gpu_ns, records;
} told[MAX_TOLD];
static uint32_t nr_told;

static struct {
	char name[64];
	int32_t device;
} kernels[MAX_TOLD];
static uint32_t nr_kernels, nr_asked;
static bool no_memory;

/* In place of record.c. */
uint32_t gmt_record_kernel(const char *name, int32_t device)
{
	nr_asked++;
	if (no_memory)
		return 0;
	for (uint32_t i = 0; i < nr_kernels; i++)
		if (kernels[i].device == device && strcmp(kernels[i].name, name) == 0)
			return i + 1;
	snprintf(kernels[nr_kernels].name, sizeof(kernels[0].name), "%s", name);
	kernels[nr_kernels].device = device;
	return ++nr_kernels;
}

void gmt_record_kernel_time(uint32_t kernel, uint64_t stream, uint64_t gpu_ns, uint64_t records)
{
	told[nr_told].kernel = kernel;
	told[nr_told].stream = stream;
	told[nr_told].gpu_ns = gpu_ns;
	told[nr_told++].records = records;
}

static struct gmt_batch batch;

static void add(const char *name, uint32_t device, uint32_t stream, uint64_t start, uint64_t end)
{
	struct gmt_kernel_head record = {
		.start_ns = start, .end_ns = end, .device = device, .stream = stream, .name = name
	};

	gmt_batch_add(&batch, &record);
}

static int told_of(const char *name, uint32_t stream, uint64_t gpu_ns, uint64_t records)
{
	int times = 0;

	for (uint32_t i = 0; i < nr_told; i++)
		times += strcmp(kernels[told[i].kernel - 1].name, name) == 0 &&
			 told[i].stream == stream && told[i].gpu_ns == gpu_ns &&
			 told[i].records == records;
	return times;
}

TEST(layout_of_each_version_is_that_of_its_headers)
{
	static const struct {
		uint32_t version;
		int generation, bytes;
	} cases[] = {
		{ 15, 6, 168 },	     { 16, 6, 168 },	  { 17, 7, 176 },      { 18, 8, 200 },
		{ 20, 9, 208 },	     { 28, 9, 208 },	  { 130001, 10, 216 }, { 130101, 11, 224 },
		{ 130201, 11, 224 }, { 130300, 12, 232 }, { 130401, 13, 248 }, { 130500, 13, 248 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gmt_layout *layout = gmt_layout_choose(cases[i].version);

		CHECK(layout && layout->generation == cases[i].generation);
		CHECK(layout->bytes == cases[i].bytes);
	}
	return TEST_PASS;
}

TEST(layout_of_an_unknown_newer_version_is_the_newest)
{
	CHECK(gmt_layout_choose(999999) == gmt_layout_choose(130500));
	return TEST_PASS;
}

TEST(layout_of_a_version_before_cuda_11_2_is_refused)
{
	const char *toolkit;

	CHECK(gmt_layout_choose(14) == NULL);
	CHECK(gmt_layout_choose(gmt_layout_oldest(&toolkit)) != NULL);
	return TEST_PASS;
}

TEST(layout_holds_the_whole_head)
{
	CHECK(gmt_layout_choose(15)->bytes >= sizeof(struct gmt_kernel_head));
	return TEST_PASS;
}

TEST(batch_adds_up_the_records_of_a_kernel_on_a_stream)
{
	gmt_batch_begin(&batch);
	add("scale", 0, 7, 100, 130);
	add("scale", 0, 7, 200, 205);
	add("scale", 0, 8, 300, 301);
	add("sum", 0, 7, 400, 440);
	gmt_batch_hand_over(&batch);

	CHECK(nr_told == 3);
	CHECK(told_of("scale", 7, 35, 2) == 1);
	CHECK(told_of("scale", 8, 1, 1) == 1);
	CHECK(told_of("sum", 7, 40, 1) == 1);
	CHECK(gmt_attribute_records() == 4);
	return TEST_PASS;
}

TEST(batch_keeps_devices_apart)
{
	gmt_batch_begin(&batch);
	add("scale", 0, 7, 100, 101);
	add("scale", 1, 7, 100, 102);
	gmt_batch_hand_over(&batch);

	CHECK(nr_kernels == 2 && nr_told == 2);
	CHECK(kernels[0].device != kernels[1].device);
	return TEST_PASS;
}

TEST(batch_counts_a_record_without_times_and_adds_no_time)
{
	gmt_batch_begin(&batch);
	add("scale", 0, 7, 0, 0);
	add("scale", 0, 7, 100, 90);
	add("scale", 0, 7, 100, 103);
	gmt_batch_hand_over(&batch);

	CHECK(told_of("scale", 7, 3, 3) == 1);
	CHECK(gmt_attribute_untimed() == 2);
	return TEST_PASS;
}

TEST(batch_that_is_full_loses_nothing)
{
	static char names[600][32];
	uint64_t records = 0;

	gmt_batch_begin(&batch);
	for (int i = 0; i < 600; i++) {
		snprintf(names[i], sizeof(names[i]), "kernel%d", i);
		add(names[i], 0, 7, 10, 11);
	}
	gmt_batch_hand_over(&batch);

	for (uint32_t i = 0; i < nr_told; i++)
		records += told[i].records;
	CHECK(nr_kernels == 600 && records == 600);
	return TEST_PASS;
}

TEST(kernel_is_asked_of_the_ledger_once)
{
	for (int i = 0; i < 3; i++) {
		gmt_batch_begin(&batch);
		add("scale", 0, 7, 10, 11);
		gmt_batch_hand_over(&batch);
	}

	CHECK(nr_asked == 1 && nr_told == 3);
	return TEST_PASS;
}

TEST(name_at_the_address_of_an_unloaded_one_is_its_own_kernel)
{
	char name[8] = "first";

	gmt_batch_begin(&batch);
	add(name, 0, 7, 10, 11);
	gmt_batch_hand_over(&batch);
	strcpy(name, "second");
	add(name, 0, 7, 10, 12);
	gmt_batch_hand_over(&batch);

	CHECK(told_of("first", 7, 1, 1) == 1);
	CHECK(told_of("second", 7, 2, 1) == 1);
	return TEST_PASS;
}

TEST(record_without_a_name_is_an_unknown_kernel)
{
	gmt_batch_begin(&batch);
	add(NULL, 0, 7, 10, 11);
	add("", 0, 7, 10, 11);
	gmt_batch_hand_over(&batch);

	CHECK(told_of("(unknown kernel)", 7, 2, 2) == 1);
	return TEST_PASS;
}

TEST(records_that_the_ledger_cannot_keep_are_counted_as_dropped)
{
	no_memory = true;
	gmt_batch_begin(&batch);
	add("scale", 0, 7, 10, 11);
	add("scale", 0, 7, 20, 21);
	gmt_batch_hand_over(&batch);

	CHECK(nr_told == 0);
	CHECK(gmt_counter_value(GMT_COUNT_dropped_kernels) == 2);
	return TEST_PASS;
}
