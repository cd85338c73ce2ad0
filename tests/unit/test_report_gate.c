/* The verdict: which gate fails, what could not be judged, and with which exit code. */
#include <string.h>

#include "report/gate.h"
#include "tests/test.h"

static struct gmt_settings settings(uint32_t fail_on)
{
	return (struct gmt_settings){
		.max_peak = UINT64_MAX,
		.min_leak_bytes = 1,
		.min_leak_blocks = 1,
		.fail_on = fail_on,
		.exitcode = 23,
	};
}

/* A run that used CUDA, lost nothing and leaked so much. */
static struct gmt_gate_facts facts(uint64_t bytes, uint64_t blocks)
{
	return (struct gmt_gate_facts){
		.leaked_bytes = bytes,
		.leaked_blocks = blocks,
		.peak_bytes = 1000,
		.cuda_used = true,
		.saw_calls = true,
	};
}

static bool judged(const struct gmt_settings *given, const struct gmt_gate_facts *found,
		   enum gmt_verdict_status status, enum gmt_gate_state gate, int exit_code)
{
	struct gmt_verdict verdict;

	gmt_gate_judge(given, found, &verdict);
	/* A gate that does not pass says why. */
	return verdict.status == status && verdict.gate == gate && verdict.exit_code == exit_code &&
	       (verdict.nr_reasons > 0) == (gate == GMT_GATE_FAILED);
}

TEST(gate_without_gates_describes_and_passes_the_exit_code)
{
	struct gmt_settings off = settings(0);
	struct gmt_gate_facts clean = facts(0, 0), leaky = facts(4, 1), lossy = facts(0, 0);
	struct gmt_gate_facts blind = facts(0, 0), none = facts(0, 0);

	lossy.dropped_events = 1;
	blind.saw_calls = false;
	none.cuda_used = none.saw_calls = false;

	CHECK(judged(&off, &clean, GMT_VERDICT_CLEAN, GMT_GATE_OFF, 0));
	CHECK(judged(&off, &leaky, GMT_VERDICT_LEAK, GMT_GATE_OFF, 0));
	CHECK(judged(&off, &lossy, GMT_VERDICT_INCOMPLETE, GMT_GATE_OFF, 0));
	CHECK(judged(&off, &blind, GMT_VERDICT_INCOMPLETE, GMT_GATE_OFF, 0));
	CHECK(judged(&off, &none, GMT_VERDICT_NO_CUDA, GMT_GATE_OFF, 0));
	return TEST_PASS;
}

TEST(gate_leak_fails_on_four_bytes)
{
	struct gmt_settings leak = settings(GMT_GATE_LEAK);
	struct gmt_gate_facts clean = facts(0, 0), leaky = facts(4, 1);

	CHECK(judged(&leak, &clean, GMT_VERDICT_CLEAN, GMT_GATE_PASSED, 0));
	CHECK(judged(&leak, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 23));
	return TEST_PASS;
}

TEST(gate_leak_fails_only_when_both_thresholds_are_reached)
{
	static const struct {
		uint64_t min_bytes, min_blocks;
		bool fails;
	} cases[] = {
		{ 1, 1, true },	   { 100, 1, true }, { 101, 1, false }, { 1, 5, true },
		{ 1, 6, false },   { 100, 5, true }, { 101, 5, false }, { 100, 6, false },
		{ 101, 6, false }, { 0, 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gmt_settings given = settings(GMT_GATE_LEAK);
		struct gmt_gate_facts found = facts(100, 5);

		given.min_leak_bytes = cases[i].min_bytes;
		given.min_leak_blocks = cases[i].min_blocks;
		CHECK(judged(&given, &found, GMT_VERDICT_LEAK,
			     cases[i].fails ? GMT_GATE_FAILED : GMT_GATE_PASSED,
			     cases[i].fails ? 23 : 0));
	}
	return TEST_PASS;
}

TEST(gate_without_thresholds_needs_a_block_to_fail)
{
	struct gmt_settings given = settings(GMT_GATE_LEAK);
	struct gmt_gate_facts clean = facts(0, 0);

	given.min_leak_bytes = given.min_leak_blocks = 0;

	CHECK(judged(&given, &clean, GMT_VERDICT_CLEAN, GMT_GATE_PASSED, 0));
	return TEST_PASS;
}

TEST(gate_peak_is_armed_by_max_peak_alone)
{
	struct gmt_settings given = settings(0);
	struct gmt_gate_facts clean = facts(0, 0), leaky = facts(4, 1);

	given.max_peak = 1000;
	CHECK(judged(&given, &clean, GMT_VERDICT_CLEAN, GMT_GATE_PASSED, 0));
	CHECK(judged(&given, &leaky, GMT_VERDICT_LEAK, GMT_GATE_PASSED, 0));
	given.max_peak = 999;
	CHECK(judged(&given, &clean, GMT_VERDICT_FAILED, GMT_GATE_FAILED, 23));
	CHECK(judged(&given, &leaky, GMT_VERDICT_FAILED, GMT_GATE_FAILED, 23));
	given.fail_on = GMT_GATE_LEAK;
	CHECK(judged(&given, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 23));
	return TEST_PASS;
}

TEST(gate_peak_without_max_peak_cannot_judge_unless_all_were_asked_for)
{
	struct gmt_settings peak = settings(GMT_GATE_PEAK), all = settings(GMT_GATES_JUDGED);
	struct gmt_gate_facts clean = facts(0, 0);

	CHECK(judged(&peak, &clean, GMT_VERDICT_INCOMPLETE, GMT_GATE_FAILED, 24));
	CHECK(judged(&all, &clean, GMT_VERDICT_CLEAN, GMT_GATE_PASSED, 0));
	return TEST_PASS;
}

TEST(gate_that_this_version_lacks_is_never_passed)
{
	for (uint32_t bit = 1; bit < GMT_GATE_ALL; bit <<= 1) {
		struct gmt_settings given = settings(bit),
				    with_leak = settings(bit | GMT_GATE_LEAK);
		struct gmt_gate_facts clean = facts(0, 0), leaky = facts(4, 1);
		struct gmt_verdict verdict;

		if (bit & GMT_GATES_JUDGED)
			continue;
		CHECK(judged(&given, &clean, GMT_VERDICT_INCOMPLETE, GMT_GATE_FAILED, 24));
		CHECK(judged(&with_leak, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 23));
		gmt_gate_judge(&given, &clean, &verdict);
		CHECK(strstr(verdict.reasons[0], "this version cannot judge it"));
	}
	return TEST_PASS;
}

TEST(gate_does_not_judge_when_events_were_dropped)
{
	struct gmt_settings leak = settings(GMT_GATE_LEAK);
	struct gmt_gate_facts clean = facts(0, 0), leaky = facts(4, 1);

	clean.dropped_events = leaky.dropped_events = 3;

	CHECK(judged(&leak, &clean, GMT_VERDICT_INCOMPLETE, GMT_GATE_FAILED, 24));
	CHECK(judged(&leak, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 23));
	return TEST_PASS;
}

TEST(gate_without_cuda_fails_where_cuda_is_required)
{
	struct gmt_settings required = settings(0), nocuda = settings(GMT_GATE_NOCUDA);
	struct gmt_settings leak = settings(GMT_GATE_LEAK);
	struct gmt_gate_facts none = facts(0, 0), clean = facts(0, 0);

	required.require_cuda = 1;
	none.cuda_used = none.saw_calls = false;

	CHECK(judged(&required, &none, GMT_VERDICT_NO_CUDA, GMT_GATE_FAILED, 24));
	CHECK(judged(&nocuda, &none, GMT_VERDICT_NO_CUDA, GMT_GATE_FAILED, 24));
	CHECK(judged(&leak, &none, GMT_VERDICT_NO_CUDA, GMT_GATE_PASSED, 0));
	CHECK(judged(&required, &clean, GMT_VERDICT_CLEAN, GMT_GATE_PASSED, 0));
	return TEST_PASS;
}

TEST(gate_does_not_pass_when_nothing_came_by)
{
	struct gmt_settings leak = settings(GMT_GATE_LEAK);
	struct gmt_gate_facts blind = facts(0, 0);

	blind.saw_calls = false;

	CHECK(judged(&leak, &blind, GMT_VERDICT_INCOMPLETE, GMT_GATE_FAILED, 24));
	return TEST_PASS;
}

TEST(gate_never_fails_with_status_0)
{
	struct gmt_settings given = settings(GMT_GATE_LEAK);
	struct gmt_gate_facts leaky = facts(4, 1);

	given.exitcode = 99;
	CHECK(judged(&given, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 99));
	given.exitcode = 0;
	CHECK(judged(&given, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 23));
	given.exitcode = 256;
	CHECK(judged(&given, &leaky, GMT_VERDICT_LEAK, GMT_GATE_FAILED, 23));
	return TEST_PASS;
}
