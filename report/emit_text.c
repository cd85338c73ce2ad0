/* The text report: verdict first, then the sections in the contract's order. */
#include "report/emit.h"
#include "report/text.h"

#include <inttypes.h>

#include "report/names.h"

#define FRAMES_SHOWN 16
#define SIZES_SHOWN  4

static const char *const status_names[] = { GMT_VERDICT_NAMES };
static const char *const gate_names[] = { GMT_GATE_STATE_NAMES };

/* "40.0 MiB (41,943,040 bytes)", "4 bytes" */
static void put_bytes(const struct gmt_text *text, uint64_t bytes)
{
	gmt_buffer_size(text->out, bytes);
	if (bytes >= 1024) {
		gmt_buffer_format(text->out, " (");
		gmt_buffer_plural(text->out, bytes, "byte", "bytes");
		gmt_buffer_format(text->out, ")");
	}
}

static void put_blocks(const struct gmt_text *text, uint64_t blocks)
{
	gmt_buffer_format(text->out, " in ");
	gmt_buffer_plural(text->out, blocks, "block", "blocks");
}

static void put_leaked(const struct gmt_text *text, const struct gmt_report *report)
{
	put_bytes(text, report->leaked_bytes);
	put_blocks(text, report->leaked_blocks);
	gmt_buffer_format(text->out, " leaked");
}

/* What is known about leaks, in words. Seeing nothing is never called "no leak". */
static void put_finding(const struct gmt_text *text, const struct gmt_report *report)
{
	if (!report->ledger->process.cuda_used) {
		gmt_buffer_format(text->out, "no CUDA activity was seen");
	} else if (report->leaked_blocks) {
		put_leaked(text, report);
	} else if (report->allocations == 0) {
		gmt_buffer_format(text->out, "CUDA was used, but no allocation was seen");
	} else if (report->dropped_events) {
		gmt_buffer_format(text->out, "no leak in what was recorded, but ");
		gmt_buffer_count(text->out, report->dropped_events);
		gmt_buffer_format(text->out, " allocations or frees were lost");
	} else {
		gmt_buffer_format(text->out, "no leak, ");
		gmt_buffer_plural(text->out, report->allocations, "allocation", "allocations");
	}
}

static void put_verdict(const struct gmt_text *text, const struct gmt_report *report)
{
	const struct gmt_verdict *verdict = &report->verdict;
	enum gmt_paint paint =
		verdict->status == GMT_VERDICT_CLEAN ? GMT_PAINT_GREEN
		: verdict->status == GMT_VERDICT_LEAK || verdict->status == GMT_VERDICT_FAILED
			? GMT_PAINT_RED
			: GMT_PAINT_YELLOW;

	gmt_buffer_format(text->out, "gmtrace: ");
	gmt_text_paint(text, paint, status_names[verdict->status]);
	gmt_buffer_format(text->out, ": ");
	put_finding(text, report);
	if (report->ledger->exe) {
		gmt_buffer_format(text->out, " in ");
		gmt_buffer_escape(text->out, gmt_names_basename(report->ledger->exe));
	}
	gmt_buffer_format(text->out, " (pid %d)\n", report->ledger->process.pid);
	if (verdict->gate != GMT_GATE_OFF) {
		gmt_buffer_format(text->out, "  gate %s", gate_names[verdict->gate]);
		if (verdict->exit_code &&
		    (report->ledger->process.status || report->ledger->process.forked))
			gmt_buffer_format(text->out, ", the program's own status stands");
		else if (verdict->exit_code)
			gmt_buffer_format(text->out, ", exit status %d", verdict->exit_code);
		gmt_buffer_format(text->out, "\n");
	}
	for (uint32_t i = 0; i < verdict->nr_reasons; i++) {
		gmt_buffer_format(text->out, "  ");
		gmt_buffer_escape(text->out, verdict->reasons[i]);
		gmt_buffer_format(text->out, "\n");
	}
}

static void put_sizes(const struct gmt_text *text, const struct gmt_report_leak *leak)
{
	for (uint32_t i = 0; i < leak->nr_sizes && i < SIZES_SHOWN; i++) {
		gmt_buffer_format(text->out, "%s%" PRIu64 " x ", i ? ", " : "",
				  leak->sizes[i].blocks);
		gmt_buffer_size(text->out, leak->sizes[i].size);
	}
	if (leak->nr_sizes > SIZES_SHOWN)
		gmt_buffer_format(text->out, ", … and other sizes");
	gmt_buffer_format(text->out, "; ");
}

static void put_details(const struct gmt_text *text, const struct gmt_report_leak *leak)
{
	gmt_buffer_format(text->out, "    ");
	if (leak->blocks > 1)
		put_sizes(text, leak);
	gmt_buffer_format(text->out, "allocated at ");
	gmt_buffer_time(text->out, leak->first_ns);
	if (leak->blocks > 1) {
		gmt_buffer_format(text->out, " to ");
		gmt_buffer_time(text->out, leak->last_ns);
	}
	gmt_buffer_format(text->out, "; site 0x%016" PRIx64 "\n", leak->stack->site);
}

/* The user's frame comes first; what lies inside of it is told in the headline. */
static void put_stack(const struct gmt_text *text, const struct gmt_report_stack *stack)
{
	uint32_t first = stack->user < stack->nr_frames ? stack->user : 0;
	uint32_t shown = 0;

	if (stack->nr_frames == 0)
		gmt_buffer_format(text->out, "      (no stack)\n");
	for (uint32_t i = first; i < stack->nr_frames; i++) {
		if (shown++ == FRAMES_SHOWN) {
			gmt_buffer_format(text->out, "      … and %u more frames (json=)\n",
					  stack->nr_frames - i);
			break;
		}
		gmt_buffer_format(text->out, "      ");
		gmt_text_frame(text, &stack->frames[i]);
		gmt_buffer_format(text->out, "\n");
	}
}

/* What the user's frame called: a vendor's library, or templates of a library's headers. */
static void put_inside(const struct gmt_text *text, const struct gmt_report_stack *stack)
{
	const struct gmt_report_frame *called;
	uint32_t inside = 0;

	if (stack->user == 0 || stack->user >= stack->nr_frames)
		return;
	called = &stack->frames[stack->user - 1];
	for (uint32_t i = 0; i < stack->user; i++)
		inside += stack->frames[i].folded + (i > 0);
	gmt_buffer_format(text->out, ", from ");
	if (called->header && called->function)
		gmt_text_name(text, called->function);
	else
		gmt_text_frame(text, called);
	if (inside) {
		gmt_buffer_format(text->out, " and ");
		gmt_buffer_plural(text->out, inside, "frame", "frames");
		gmt_buffer_format(text->out, " inside");
	}
}

/* What was left undone with handles of physical memory; of several, how many each. */
static void put_handles(const struct gmt_text *text, const struct gmt_report_leak *leak)
{
	static const char *const words[GMT_NR_HANDLE_STATES] = { GMT_HANDLE_STATE_WORDS };
	const char *before = "    ";

	for (int i = GMT_HANDLE_NONE + 1; i < GMT_NR_HANDLE_STATES; i++) {
		if (!leak->handles[i])
			continue;
		gmt_buffer_format(text->out, "%s", before);
		if (leak->handles[i] < leak->blocks)
			gmt_buffer_format(text->out, "%" PRIu64 " ", leak->handles[i]);
		gmt_buffer_format(text->out, "%s", words[i]);
		before = "; ";
	}
	if (before[0] == ';')
		gmt_buffer_format(text->out, "\n");
}

static void put_leak(const struct gmt_text *text, const struct gmt_report_leak *leak)
{
	gmt_buffer_format(text->out, "  ");
	put_bytes(text, leak->bytes);
	/* The driver does not say what an array takes. */
	if (leak->kind == GMT_KIND_ARRAY)
		gmt_buffer_format(text->out, " (estimated)");
	put_blocks(text, leak->blocks);
	gmt_buffer_format(text->out, " by ");
	gmt_buffer_escape(text->out, leak->api);
	if (leak->device != GMT_NO_DEVICE)
		gmt_buffer_format(text->out, " on device %d", leak->device);
	if (leak->kind != GMT_KIND_DEVICE)
		gmt_buffer_format(text->out, ", kind %s", gmt_kind_names[leak->kind]);
	gmt_buffer_format(text->out, ", class %s%s", gmt_class_names[leak->leak_class],
			  leak->counted ? "" : " (not counted)");
	put_inside(text, leak->stack);
	gmt_buffer_format(text->out, "\n");
	put_stack(text, leak->stack);
	put_handles(text, leak);
	put_details(text, leak);
}

void gmt_text_leaks(const struct gmt_text *text, const struct gmt_report *report)
{
	if (report->nr_leaks == 0)
		return;
	gmt_text_title(text, "Leaks");
	for (uint32_t i = 0; i < report->nr_leaks && i < GMT_TEXT_GROUPS; i++)
		put_leak(text, &report->leaks[i]);
	gmt_text_more(text, "  ", GMT_TEXT_GROUPS, report->nr_leaks);
}

static void put_error(const struct gmt_text *text, const struct gmt_report_error *error)
{
	gmt_buffer_format(text->out, "  %s: ", error->kind);
	gmt_buffer_escape(text->out, error->api);
	gmt_buffer_format(text->out, " of 0x%" PRIx64 " was refused, ", error->address);
	gmt_buffer_plural(text->out, error->count, "time", "times");
	gmt_buffer_format(text->out, ", first at ");
	gmt_buffer_time(text->out, error->time_ns);
	gmt_buffer_format(text->out, "\n");
	put_stack(text, error->stack);
	if (error->alloc_stack->nr_frames == 0)
		return;
	gmt_buffer_format(text->out, "    the memory came from\n");
	put_stack(text, error->alloc_stack);
}

void gmt_text_errors(const struct gmt_text *text, const struct gmt_report *report)
{
	if (report->nr_errors == 0)
		return;
	gmt_text_title(text, "Errors");
	for (uint32_t i = 0; i < report->nr_errors && i < GMT_TEXT_GROUPS; i++)
		put_error(text, &report->errors[i]);
	gmt_text_more(text, "  ", GMT_TEXT_GROUPS, report->nr_errors);
}

bool gmt_emit_text(const struct gmt_report *report, bool color, struct gmt_buffer *out)
{
	struct gmt_text text = { out, color };

	put_verdict(&text, report);
	gmt_text_leaks(&text, report);
	gmt_text_peaks(&text, report);
	gmt_text_fragmentation(&text, report);
	gmt_text_errors(&text, report);
	gmt_text_kernels(&text, report);
	gmt_text_balance(&text, report);
	gmt_text_coverage(&text, report);
	return !out->failed;
}

bool gmt_emit_summary(const struct gmt_report *report, struct gmt_buffer *out)
{
	const struct gmt_verdict *verdict = &report->verdict;
	uint64_t peak = 0;
	int32_t device = report->nr_devices ? report->devices[0].ordinal : 0;

	for (uint32_t i = 0; i < report->nr_peaks; i++) {
		if (report->peaks[i].device == GMT_NO_DEVICE || report->peaks[i].bytes <= peak)
			continue;
		peak = report->peaks[i].bytes;
		device = report->peaks[i].device;
	}
	gmt_buffer_format(out,
			  "gmtrace: SUMMARY: %s: %" PRIu64 " bytes in %" PRIu64
			  " blocks leaked, peak %" PRIu64 " bytes on device %d, gate %s\n",
			  status_names[verdict->status], report->leaked_bytes,
			  report->leaked_blocks, peak, device, gate_names[verdict->gate]);
	return !out->failed;
}
