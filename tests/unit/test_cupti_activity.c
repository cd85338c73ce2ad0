/* Activity buffers, lent to a CUPTI that is played by this file. */
#ifdef GMT_NO_CUPTI

#include "tests/test.h"

TEST(activity_is_not_built_without_the_headers_of_cupti)
{
	return TEST_SKIP;
}

#else

#include "cupti/activity.c"

#include <string.h>

#include "tests/test.h"

#define MAX_BUFFERS 4096
#define RECORD	    216

static unsigned int nr_plain, nr_forced, nr_records, nr_handed_over;
static size_t dropped;
static CUpti_BuffersCallbackRequestFunc ask;
static CUpti_BuffersCallbackCompleteFunc give;
static CUptiResult enabled = CUPTI_SUCCESS;

/* In place of attribute.c. */
void gmt_batch_begin(struct gmt_batch *batch)
{
	batch->used = 0;
}

void gmt_batch_add(struct gmt_batch *batch, const struct gmt_kernel_head *record)
{
	batch->used += record->name != NULL;
	nr_records++;
}

void gmt_batch_hand_over(struct gmt_batch *batch)
{
	nr_handed_over += batch->used;
}

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc request,
					       CUpti_BuffersCallbackCompleteFunc complete)
{
	ask = request;
	give = complete;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? enabled : CUPTI_ERROR_INVALID_KIND;
}

static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t bytes, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + RECORD : buffer;

	if (next >= buffer + bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)next;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_dropped(CUcontext context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	*count = dropped;
	dropped = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI flush(uint32_t flag)
{
	*(flag ? &nr_forced : &nr_plain) += 1;
	return CUPTI_SUCCESS;
}

static struct gmt_cupti_api api = {
	.cuptiActivityRegisterCallbacks = register_callbacks,
	.cuptiActivityEnable = enable,
	.cuptiActivityGetNextRecord = next_record,
	.cuptiActivityGetNumDroppedRecords = get_dropped,
	.cuptiActivityFlushAll = flush,
};

static CUptiResult start(void)
{
	api.layout = gmt_layout_choose(130000);
	return gmt_activity_start(&api);
}

/* In place of layout.c. */
const struct gmt_layout *gmt_layout_choose(uint32_t version)
{
	static const struct gmt_layout layout = { 130000, 10, RECORD };

	return version >= layout.since ? &layout : NULL;
}

static void put_record(uint8_t *buffer, unsigned int index, CUpti_ActivityKind kind)
{
	struct gmt_kernel_head *record = (void *)(buffer + index * RECORD);

	memset(record, 0, RECORD);
	record->kind = kind;
	record->name = "scale";
}

TEST(activity_that_cannot_be_enabled_says_so)
{
	enabled = CUPTI_ERROR_NOT_COMPATIBLE;

	CHECK(start() == CUPTI_ERROR_NOT_COMPATIBLE);
	return TEST_PASS;
}

TEST(records_of_kernels_are_read_and_others_passed_by)
{
	size_t bytes, most;
	uint8_t *buffer;

	CHECK(start() == CUPTI_SUCCESS);
	ask(&buffer, &bytes, &most);
	put_record(buffer, 0, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	put_record(buffer, 1, CUPTI_ACTIVITY_KIND_MEMCPY);
	put_record(buffer, 2, CUPTI_ACTIVITY_KIND_KERNEL);
	give(NULL, 0, buffer, bytes, 3 * RECORD);

	CHECK(nr_records == 2 && nr_handed_over == 2);
	return TEST_PASS;
}

TEST(record_that_is_cut_short_is_not_read)
{
	size_t bytes, most;
	uint8_t *buffer;

	CHECK(start() == CUPTI_SUCCESS);
	ask(&buffer, &bytes, &most);
	put_record(buffer, 0, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	put_record(buffer, 1, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	give(NULL, 0, buffer, bytes, RECORD + RECORD / 2);

	CHECK(nr_records == 1);
	return TEST_PASS;
}

TEST(buffers_are_bounded_and_lent_again)
{
	static uint8_t *buffers[MAX_BUFFERS];
	static size_t bytes[MAX_BUFFERS];
	unsigned int count = 0;
	size_t most, total = 0;

	CHECK(start() == CUPTI_SUCCESS);
	for (; count < MAX_BUFFERS; count++) {
		ask(&buffers[count], &bytes[count], &most);
		if (!buffers[count])
			break;
		total += bytes[count];
	}
	CHECK(count > 500 && count < MAX_BUFFERS && bytes[count] == 0);
	CHECK(total <= UINT64_C(64) << 20);
	give(NULL, 0, buffers[7], bytes[7], 0);
	give(NULL, 0, buffers[count - 1], bytes[count - 1], 0);
	ask(&buffers[count], &bytes[count], &most);

	CHECK(buffers[count] == buffers[7] && bytes[count] == bytes[7]);
	ask(&buffers[count], &bytes[count], &most);
	CHECK(buffers[count] == buffers[count - 1] && bytes[count] == bytes[count - 1]);
	return TEST_PASS;
}

TEST(flush_is_forced_only_while_a_buffer_is_out)
{
	size_t bytes, most;
	uint8_t *buffer;

	CHECK(start() == CUPTI_SUCCESS);
	gmt_activity_flush();
	CHECK(nr_plain == 1 && nr_forced == 0);
	ask(&buffer, &bytes, &most);
	gmt_activity_flush();
	CHECK(nr_plain == 2 && nr_forced == 1);
	give(NULL, 0, buffer, bytes, 0);
	gmt_activity_flush();

	CHECK(nr_plain == 3 && nr_forced == 1);
	return TEST_PASS;
}

TEST(records_that_cupti_dropped_are_counted)
{
	size_t bytes, most;
	uint8_t *buffer;

	CHECK(start() == CUPTI_SUCCESS);
	ask(&buffer, &bytes, &most);
	dropped = 5;
	give(NULL, 0, buffer, bytes, 0);
	dropped = 2;
	gmt_activity_flush();

	CHECK(gmt_counter_value(GMT_COUNT_dropped_kernels) == 7);
	return TEST_PASS;
}

#endif
