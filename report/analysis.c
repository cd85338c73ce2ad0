/*
 * Owns the making of a report: names every stack once, then asks the ledger's questions, and hands
 * the answers to the gates. The questions that need a file of their own are beside.
 */
#include "report/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/gate.h"
#include "report/heap.h"

const char *const gmt_kind_names[GMT_NR_KINDS] = { GMT_KIND_NAMES };
const char *const gmt_class_names[] = { "one_time", "freed_at_teardown", "reset" };

static bool name_sites(struct gmt_analysis *analysis)
{
	const struct gmt_ledger *ledger = analysis->ledger;

	analysis->origins =
		gmt_heap_take(analysis->heap, ledger->nr_sites, sizeof(*analysis->origins));
	if (!analysis->origins)
		return false;
	for (uint32_t i = 0; i < ledger->nr_sites; i++) {
		analysis->origins[i] = gmt_stacks_get(analysis->stacks, ledger->sites[i]->stack);
		if (!analysis->origins[i])
			return false;
	}
	return true;
}

static uint64_t counter(const struct gmt_ledger *ledger, const char *name)
{
	for (int i = 0; i < GMT_MAX_COUNTERS && ledger->counters[i].name; i++)
		if (strcmp(ledger->counters[i].name, name) == 0)
			return ledger->counters[i].value;
	return 0;
}

static bool add_note(struct gmt_report *report, const char *text)
{
	char *copy = gmt_heap_copy(report->heap, text, strlen(text));

	if (copy)
		report->notes[report->nr_notes++] = copy;
	return copy;
}

/* The ledger's notes, and every counter that is not zero and has no key of its own. */
static bool collect_notes(struct gmt_report *report)
{
	const struct gmt_ledger *ledger = report->ledger;
	uint32_t room = GMT_MAX_COUNTERS + 1;

	for (const struct gmt_note *note = ledger->notes; note; note = note->next)
		room++;
	report->notes = gmt_heap_take(report->heap, room, sizeof(*report->notes));
	if (!report->notes)
		return false;
	for (const struct gmt_note *note = ledger->notes; note; note = note->next)
		add_note(report, note->text);
	for (int i = 0; i < GMT_MAX_COUNTERS && ledger->counters[i].name; i++) {
		char text[512];

		if (ledger->counters[i].value == 0 ||
		    strcmp(ledger->counters[i].name, "dropped_events") == 0 ||
		    strcmp(ledger->counters[i].name, "unwind_failures") == 0)
			continue;
		snprintf(text, sizeof(text), "%s: %" PRIu64, ledger->counters[i].text,
			 ledger->counters[i].value);
		add_note(report, text);
	}
	if (!ledger->settings.stacks)
		add_note(report, "stacks=0: no call stacks were captured");
	return !gmt_heap_failed(report->heap);
}

static void add_totals(struct gmt_report *report)
{
	const struct gmt_ledger *ledger = report->ledger;

	for (int kind = 0; kind < GMT_NR_KINDS; kind++) {
		report->allocations += ledger->kinds[kind].allocations;
		report->frees += ledger->kinds[kind].frees;
	}
	for (uint32_t i = 0; i < report->nr_leaks; i++) {
		if (!report->leaks[i].counted)
			continue;
		report->leaked_bytes += report->leaks[i].bytes;
		report->leaked_blocks += report->leaks[i].blocks;
	}
	report->dropped_events = counter(ledger, "dropped_events");
	report->unwind_failures = counter(ledger, "unwind_failures");
}

static void judge(struct gmt_report *report)
{
	const struct gmt_ledger *ledger = report->ledger;
	struct gmt_gate_facts facts = {
		.leaked_bytes = report->leaked_bytes,
		.leaked_blocks = report->leaked_blocks,
		.peak_device = GMT_NO_DEVICE,
		.bad_frees = report->bad_frees,
		.dropped_events = report->dropped_events,
		.cuda_used = ledger->process.cuda_used,
		/* A runtime looks up hundreds of names; that they came by shows that we are heard.
		 */
		.saw_calls = report->allocations || ledger->failed_allocations ||
			     ledger->nr_kernels || ledger->nr_passed_through || ledger->nr_errors ||
			     counter(ledger, "unknown_frees"),
	};

	for (uint32_t i = 0; i < report->nr_peaks; i++) {
		const struct gmt_report_peak *peak = &report->peaks[i];

		if (peak->device == GMT_NO_DEVICE || peak->bytes <= facts.peak_bytes)
			continue;
		facts.peak_bytes = peak->bytes;
		facts.peak_device = peak->device;
	}
	gmt_gate_judge(&ledger->settings, &facts, &report->verdict);
}

static bool analyse(struct gmt_analysis *analysis)
{
	return name_sites(analysis) && gmt_analysis_leaks(analysis) &&
	       gmt_analysis_peaks(analysis) && gmt_analysis_sites(analysis) &&
	       gmt_analysis_devices(analysis) && gmt_analysis_kernels(analysis) &&
	       gmt_analysis_errors(analysis) && collect_notes(analysis->report);
}

struct gmt_report *gmt_analysis_make(const struct gmt_ledger *ledger,
				     struct gmt_symbolizer *symbolizer)
{
	struct gmt_analysis analysis = { .ledger = ledger, .heap = gmt_heap_new() };

	if (!analysis.heap)
		return NULL;
	analysis.report = gmt_heap_take(analysis.heap, 1, sizeof(*analysis.report));
	analysis.stacks = gmt_stacks_new(analysis.heap, ledger, symbolizer);
	if (analysis.report && analysis.stacks) {
		analysis.report->heap = analysis.heap;
		analysis.report->ledger = ledger;
		analysis.report->named = symbolizer != NULL;
		if (analyse(&analysis)) {
			add_totals(analysis.report);
			judge(analysis.report);
			return analysis.report;
		}
	}
	gmt_heap_free(analysis.heap);
	return NULL;
}

void gmt_analysis_free(struct gmt_report *report)
{
	if (report)
		gmt_heap_free(report->heap);
}
