/* Owns the verdict: status, gate, exit code, and why. */
#include "report/gate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* exitcode's default, for a trace whose settings make no sense: a failure is never 0. */
#define EXIT_GATE_FAILED 23

static const char *const gate_names[] = { GMT_GATE_NAMES };

__attribute__((format(printf, 2, 3))) static void give_reason(struct gmt_verdict *verdict,
							      const char *format, ...)
{
	va_list arguments;

	if (verdict->nr_reasons == GMT_REASONS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(verdict->reasons[verdict->nr_reasons++], GMT_REASON_BYTES, format, arguments);
	va_end(arguments);
}

static uint32_t armed_gates(const struct gmt_settings *settings)
{
	uint32_t armed = settings->fail_on & GMT_GATE_ALL;

	if (settings->max_peak != UINT64_MAX)
		armed |= GMT_GATE_PEAK;
	else if ((armed & GMT_GATES_JUDGED) == GMT_GATES_JUDGED)
		armed &=
			~(uint32_t)GMT_GATE_PEAK; /* "all" asks for what there is to compare with */
	if (settings->require_cuda)
		armed |= GMT_GATE_NOCUDA;
	return armed;
}

static bool leaks(const struct gmt_settings *settings, const struct gmt_gate_facts *facts)
{
	return facts->leaked_blocks > 0 && facts->leaked_bytes >= settings->min_leak_bytes &&
	       facts->leaked_blocks >= settings->min_leak_blocks;
}

/* The gates that failed, each with its reason. */
static uint32_t failed_gates(const struct gmt_settings *settings,
			     const struct gmt_gate_facts *facts, uint32_t armed,
			     struct gmt_verdict *verdict)
{
	uint32_t failed = 0;

	if (armed & GMT_GATE_LEAK && leaks(settings, facts)) {
		failed |= GMT_GATE_LEAK;
		give_reason(verdict, "leak: %" PRIu64 " bytes in %" PRIu64 " %s leaked",
			    facts->leaked_bytes, facts->leaked_blocks,
			    facts->leaked_blocks == 1 ? "block" : "blocks");
	}
	if (armed & GMT_GATE_PEAK && settings->max_peak != UINT64_MAX &&
	    facts->peak_bytes > settings->max_peak) {
		failed |= GMT_GATE_PEAK;
		give_reason(verdict,
			    "peak: %" PRIu64 " bytes on device %d, max_peak is %" PRIu64 " bytes",
			    facts->peak_bytes, facts->peak_device, settings->max_peak);
	}
	if (armed & GMT_GATE_BADFREE && facts->bad_frees) {
		failed |= GMT_GATE_BADFREE;
		give_reason(verdict, "badfree: %" PRIu64 " mistaken %s", facts->bad_frees,
			    facts->bad_frees == 1 ? "free" : "frees");
	}
	return failed;
}

/* Whether something kept the gates from judging, with the reasons. */
static bool not_judged(const struct gmt_settings *settings, const struct gmt_gate_facts *facts,
		       uint32_t armed, struct gmt_verdict *verdict)
{
	uint32_t before = verdict->nr_reasons;

	for (uint32_t bit = 0; bit < sizeof(gate_names) / sizeof(gate_names[0]); bit++)
		if (armed & ~(uint32_t)GMT_GATES_JUDGED & 1u << bit)
			give_reason(verdict, "gate %s: this version cannot judge it",
				    gate_names[bit]);
	if (armed & GMT_GATE_PEAK && settings->max_peak == UINT64_MAX)
		give_reason(verdict, "gate peak: there is no max_peak to compare with");
	if (armed & GMT_GATE_NOCUDA && !facts->cuda_used)
		give_reason(verdict, "no CUDA activity was seen");
	if (armed && facts->cuda_used && !facts->saw_calls)
		give_reason(verdict, "CUDA was started, but none of its calls came by: "
				     "nothing is known about its memory");
	if (armed && facts->dropped_events)
		give_reason(verdict, "%" PRIu64 " allocations or frees could not be recorded",
			    facts->dropped_events);
	return verdict->nr_reasons > before;
}

void gmt_gate_judge(const struct gmt_settings *settings, const struct gmt_gate_facts *facts,
		    struct gmt_verdict *verdict)
{
	uint32_t armed = armed_gates(settings);
	uint32_t failed;
	bool unknown;

	memset(verdict, 0, sizeof(*verdict));
	failed = failed_gates(settings, facts, armed, verdict);
	unknown = not_judged(settings, facts, armed, verdict);

	if (armed)
		verdict->gate = failed || unknown ? GMT_GATE_FAILED : GMT_GATE_PASSED;
	if (failed)
		verdict->exit_code = settings->exitcode >= 1 && settings->exitcode <= 255
					     ? (int32_t)settings->exitcode
					     : EXIT_GATE_FAILED;
	else if (unknown)
		verdict->exit_code = GMT_EXIT_NOT_JUDGED;

	/* The gravest first; without a gate, losses still keep a report from calling itself clean.
	 */
	if (failed & GMT_GATE_LEAK)
		verdict->status = GMT_VERDICT_LEAK;
	else if (failed)
		verdict->status = GMT_VERDICT_FAILED;
	else if (!facts->cuda_used)
		verdict->status = GMT_VERDICT_NO_CUDA;
	else if (unknown)
		verdict->status = GMT_VERDICT_INCOMPLETE;
	else if (facts->leaked_blocks)
		verdict->status = GMT_VERDICT_LEAK;
	else if (facts->dropped_events || !facts->saw_calls)
		verdict->status = GMT_VERDICT_INCOMPLETE;
	else
		verdict->status = GMT_VERDICT_CLEAN;
}
