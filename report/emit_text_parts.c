/* The sections of the text report after the leaks. */
#include "report/text.h"

#include <inttypes.h>

#define NOTES_SHOWN 20

static void put_device(const struct gmt_text *text, const struct gmt_report *report, int32_t device)
{
	gmt_buffer_format(text->out, "  device %d", device);
	for (uint32_t i = 0; i < report->nr_devices; i++) {
		if (report->devices[i].ordinal != device || !report->devices[i].device->name)
			continue;
		gmt_buffer_format(text->out, " (");
		gmt_buffer_escape(text->out, report->devices[i].device->name);
		gmt_buffer_format(text->out, ")");
	}
}

void gmt_text_peaks(const struct gmt_text *text, const struct gmt_report *report)
{
	/* With one device, the whole process says the same again. */
	uint32_t shown = report->nr_peaks == 2 ? 1 : report->nr_peaks;

	if (shown == 0)
		return;
	gmt_text_title(text, "Peak memory, and who held it");
	for (uint32_t i = 0; i < shown; i++) {
		const struct gmt_report_peak *peak = &report->peaks[i];

		if (peak->device == GMT_NO_DEVICE)
			gmt_buffer_format(text->out, "  all devices together");
		else
			put_device(text, report, peak->device);
		gmt_buffer_format(text->out, ": ");
		gmt_buffer_size(text->out, peak->bytes);
		gmt_buffer_format(text->out, " at ");
		gmt_buffer_time(text->out, peak->time_ns);
		gmt_buffer_format(text->out, "\n");
		for (uint32_t j = 0; j < peak->owners.nr_shares && j < GMT_TEXT_GROUPS; j++) {
			const struct gmt_report_share *share = &peak->owners.shares[j];

			gmt_buffer_format(text->out, "    ");
			gmt_text_percent(text, share->bytes, peak->bytes);
			gmt_buffer_format(text->out, "  ");
			gmt_text_amount(text, share->bytes, share->blocks);
			gmt_buffer_format(text->out, "  ");
			gmt_text_where(text, &peak->owners, j);
			gmt_buffer_format(text->out, "\n");
		}
		gmt_text_more(text, "    ", GMT_TEXT_GROUPS, peak->owners.nr_shares);
	}
}

/* The sites that pin pages now, with the pages; or those of the worst moment. */
static void put_pinners(const struct gmt_text *text, const struct gmt_report_shares *pinners,
			bool now)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < pinners->nr_shares && shown < GMT_TEXT_GROUPS; i++) {
		const struct gmt_report_share *share = &pinners->shares[i];

		if (share->blocks == 0)
			break; /* sorted: those that follow have none either */
		shown++;
		gmt_buffer_format(text->out, "      ");
		if (now) {
			gmt_buffer_plural(text->out, share->pages, "page", "pages");
			gmt_buffer_format(text->out, " by ");
		}
		gmt_text_amount(text, share->bytes, share->blocks);
		gmt_buffer_format(text->out, "  ");
		gmt_text_where(text, pinners, i);
		gmt_buffer_format(text->out, "\n");
	}
	while (shown < pinners->nr_shares && pinners->shares[shown].blocks)
		shown++;
	gmt_text_more(text, "      ", GMT_TEXT_GROUPS, shown);
}

static void put_pinned(const struct gmt_text *text, uint64_t pinned, uint64_t nr_pages,
		       uint64_t small_bytes)
{
	gmt_buffer_size(text->out, pinned);
	gmt_buffer_format(text->out, " pinned: small blocks of ");
	gmt_buffer_size(text->out, small_bytes);
	gmt_buffer_format(text->out, " hold ");
	gmt_buffer_plural(text->out, nr_pages, "page", "pages");
	gmt_buffer_format(text->out, " of 2 MiB\n");
}

static void put_fragmented(const struct gmt_text *text, const struct gmt_report *report,
			   const struct gmt_report_device *device)
{
	const struct gmt_page_totals *pages = &device->device->pages;

	if (device->pinned_bytes == 0 && pages->worst_pinned == 0 && pages->rounding_bytes == 0)
		return;
	put_device(text, report, device->ordinal);
	gmt_buffer_format(text->out, "\n");
	if (device->pinned_bytes) {
		gmt_buffer_format(text->out, "    at the end ");
		put_pinned(text, device->pinned_bytes, pages->small_pages, pages->small_bytes);
		put_pinners(text, &device->pinners, true);
	}
	/* A moment that was hardly worse tells nothing new. */
	if (pages->worst_pinned > device->pinned_bytes + device->pinned_bytes / 10) {
		gmt_buffer_format(text->out, "    at worst, ");
		gmt_buffer_time(text->out, pages->worst_time_ns);
		gmt_buffer_format(text->out, ", ");
		put_pinned(text, pages->worst_pinned, pages->worst_pages, pages->worst_small_bytes);
		put_pinners(text, &device->worst_pinners, false);
	}
	if (pages->rounding_bytes) {
		gmt_buffer_format(text->out, "    at the end ");
		gmt_buffer_size(text->out, pages->rounding_bytes);
		gmt_buffer_format(text->out, " lost to rounding larger blocks up to 2 MiB\n");
	}
}

static void put_pool(const struct gmt_text *text, const struct gmt_pool *pool)
{
	const struct gmt_pool_sample *sample = &pool->sample;

	if (!sample->valid || sample->reserved_bytes <= sample->used_bytes)
		return;
	gmt_buffer_format(text->out, "  memory pool of device %d: ", pool->device);
	gmt_buffer_size(text->out, sample->reserved_bytes - sample->used_bytes);
	gmt_buffer_format(text->out, " idle (");
	gmt_buffer_size(text->out, sample->reserved_bytes);
	gmt_buffer_format(text->out, " reserved, ");
	gmt_buffer_size(text->out, sample->used_bytes);
	gmt_buffer_format(text->out, " used; highest ");
	gmt_buffer_size(text->out, sample->reserved_peak);
	gmt_buffer_format(text->out, " and ");
	gmt_buffer_size(text->out, sample->used_peak);
	gmt_buffer_format(text->out, ")\n");
}

static void put_vmm(const struct gmt_text *text, const struct gmt_ledger *ledger)
{
	const struct gmt_kind_totals *handles = &ledger->kinds[GMT_KIND_VMM];

	if (!handles->live_blocks && !ledger->vmm.mapped_bytes && !ledger->vmm.reserved_bytes)
		return;
	gmt_buffer_format(text->out, "  virtual memory: ");
	gmt_buffer_size(text->out, handles->live_bytes);
	gmt_buffer_format(text->out, " live in ");
	gmt_buffer_plural(text->out, handles->live_blocks, "handle", "handles");
	gmt_buffer_format(text->out, ", ");
	gmt_buffer_size(text->out, ledger->vmm.mapped_bytes);
	gmt_buffer_format(text->out, " mapped, ");
	gmt_buffer_size(text->out, ledger->vmm.reserved_bytes);
	gmt_buffer_format(text->out, " of address space reserved\n");
}

void gmt_text_fragmentation(const struct gmt_text *text, const struct gmt_report *report)
{
	size_t title = text->out->bytes, body;

	gmt_text_title(text, "Fragmentation");
	body = text->out->bytes;
	for (uint32_t i = 0; i < report->nr_devices; i++)
		put_fragmented(text, report, &report->devices[i]);
	for (const struct gmt_pool *pool = report->ledger->pools; pool; pool = pool->next)
		put_pool(text, pool);
	put_vmm(text, report->ledger);
	if (text->out->bytes == body)
		text->out->bytes = title;
}

static void put_streams(const struct gmt_text *text, const struct gmt_kernel *kernel)
{
	if (kernel->nr_streams == 0)
		return;
	if (kernel->nr_streams > 1) {
		gmt_buffer_format(text->out, ", %s%u streams",
				  kernel->nr_streams > GMT_KERNEL_STREAMS ? "more than " : "",
				  kernel->nr_streams > GMT_KERNEL_STREAMS ? GMT_KERNEL_STREAMS
									  : kernel->nr_streams);
		return;
	}
	if (kernel->streams[0] == 0)
		gmt_buffer_format(text->out, ", default stream");
	else
		gmt_buffer_format(text->out, ", stream 0x%" PRIx64, kernel->streams[0]);
}

static void put_kernel(const struct gmt_text *text, const struct gmt_report_kernel *kernel)
{
	gmt_buffer_format(text->out, "  ");
	gmt_text_name(text, kernel->name);
	gmt_buffer_format(text->out, ": ");
	gmt_buffer_plural(text->out, kernel->launches, "launch", "launches");
	if (kernel->kernel->device != GMT_NO_DEVICE)
		gmt_buffer_format(text->out, " on device %d", kernel->kernel->device);
	put_streams(text, kernel->kernel);
	if (kernel->kernel->records)
		gmt_buffer_format(text->out, ", GPU time %" PRIu64 ".%03u ms",
				  kernel->kernel->gpu_time_ns / 1000000u,
				  (unsigned int)(kernel->kernel->gpu_time_ns / 1000u % 1000u));
	if (kernel->passed.nr_shares == 0) {
		gmt_buffer_format(text->out, "; was passed no known block\n");
		return;
	}
	gmt_buffer_format(text->out, "; was passed ");
	gmt_text_amount(text, kernel->kernel->bytes_referenced, kernel->passed_blocks);
	gmt_buffer_format(text->out, "\n");
	for (uint32_t i = 0; i < kernel->passed.nr_shares && i < GMT_TEXT_GROUPS; i++) {
		const struct gmt_report_share *share = &kernel->passed.shares[i];

		gmt_buffer_format(text->out, "    ");
		gmt_text_amount(text, share->bytes, share->blocks);
		gmt_buffer_format(text->out, "  ");
		gmt_text_where(text, &kernel->passed, i);
		gmt_buffer_format(text->out, "\n");
	}
	gmt_text_more(text, "    ", GMT_TEXT_GROUPS, kernel->passed.nr_shares);
}

void gmt_text_kernels(const struct gmt_text *text, const struct gmt_report *report)
{
	if (report->nr_kernels == 0)
		return;
	/* A pointer among the arguments is all that is known of what a kernel touches. */
	gmt_text_title(text, "Kernels, and the blocks they were passed (may reference)");
	for (uint32_t i = 0; i < report->nr_kernels && i < GMT_TEXT_GROUPS; i++)
		put_kernel(text, &report->kernels[i]);
	gmt_text_more(text, "  ", GMT_TEXT_GROUPS, report->nr_kernels);
}

static void put_part(const struct gmt_text *text, const char *name, uint64_t bytes)
{
	if (bytes == 0)
		return;
	gmt_buffer_format(text->out, "    %-13s ", name);
	gmt_buffer_size(text->out, bytes);
	gmt_buffer_format(text->out, "\n");
}

static void put_balance(const struct gmt_text *text, const struct gmt_report *report,
			const struct gmt_report_device *device)
{
	const struct gmt_report_balance *sums = &device->balance;
	bool negative = sums->unaccounted < 0;

	put_device(text, report, device->ordinal);
	gmt_buffer_format(text->out, ": ");
	gmt_buffer_size(text->out, sums->driver_used);
	gmt_buffer_format(text->out, " in use by the driver's account at ");
	gmt_buffer_time(text->out, sums->time_ns);
	gmt_buffer_format(text->out, ", of ");
	gmt_buffer_size(text->out, device->device->sample.total_bytes);
	gmt_buffer_format(text->out, "\n");
	put_part(text, "tracked", sums->tracked);
	put_part(text, "rounding", sums->rounding);
	put_part(text, "pinned pages", sums->pinned_pages);
	put_part(text, "idle in pools", sums->pool_idle);
	gmt_buffer_format(text->out, "    %-13s %s", "unaccounted", negative ? "-" : "");
	gmt_buffer_size(text->out,
			negative ? -(uint64_t)sums->unaccounted : (uint64_t)sums->unaccounted);
	gmt_buffer_format(text->out, " (contexts, modules, other processes)\n");
}

void gmt_text_balance(const struct gmt_text *text, const struct gmt_report *report)
{
	bool titled = false;

	for (uint32_t i = 0; i < report->nr_devices; i++) {
		if (!report->devices[i].balance.valid)
			continue;
		if (!titled)
			gmt_text_title(text, "Device memory");
		titled = true;
		put_balance(text, report, &report->devices[i]);
	}
}

static void put_routes(const struct gmt_text *text, const struct gmt_ledger *ledger)
{
	static const char *const names[GMT_NR_ROUTES] = { "a symbol", "dlsym", "cuGetProcAddress",
							  "CUPTI" };
	const char *before = " (by ";

	for (int i = 0; i < GMT_NR_ROUTES; i++) {
		if (ledger->routes[i] == 0)
			continue;
		gmt_buffer_format(text->out, "%s%s: ", before, names[i]);
		gmt_buffer_count(text->out, ledger->routes[i]);
		before = ", ";
	}
	if (before[0] == ',')
		gmt_buffer_format(text->out, ")");
}

void gmt_text_coverage(const struct gmt_text *text, const struct gmt_report *report)
{
	static const char *const cupti[GMT_NR_CUPTI] = { GMT_CUPTI_NAMES };
	const struct gmt_ledger *ledger = report->ledger;

	gmt_text_title(text, "Coverage");
	gmt_buffer_format(text->out, "  ");
	gmt_buffer_plural(text->out, report->allocations, "allocation", "allocations");
	put_routes(text, ledger);
	gmt_buffer_format(text->out, ", ");
	gmt_buffer_plural(text->out, report->frees, "free", "frees");
	if (ledger->nr_passed_through) {
		gmt_buffer_format(text->out, "; ");
		gmt_buffer_plural(text->out, ledger->nr_passed_through, "other name",
				  "other names");
		gmt_buffer_format(text->out, " passed through");
	}
	if (ledger->settings.kernels == GMT_KERNELS_CUPTI && ledger->cupti < GMT_NR_CUPTI)
		gmt_buffer_format(text->out, "; CUPTI %s", cupti[ledger->cupti]);
	if (report->nr_notes == 0 && !report->dropped_events && !report->unwind_failures)
		gmt_buffer_format(text->out, "; nothing lost");
	gmt_buffer_format(text->out, "\n");
	if (report->dropped_events) {
		gmt_buffer_format(text->out, "  ");
		gmt_buffer_count(text->out, report->dropped_events);
		gmt_buffer_format(text->out, " allocations or frees could not be recorded\n");
	}
	if (ledger->failed_allocations) {
		gmt_buffer_format(text->out, "  ");
		gmt_buffer_plural(text->out, ledger->failed_allocations, "allocation",
				  "allocations");
		gmt_buffer_format(text->out, " failed in the driver\n");
	}
	if (report->unwind_failures) {
		gmt_buffer_format(text->out, "  ");
		gmt_buffer_count(text->out, report->unwind_failures);
		gmt_buffer_format(text->out, " stacks could not be captured\n");
	}
	for (uint32_t i = 0; i < report->nr_notes && i < NOTES_SHOWN; i++) {
		gmt_buffer_format(text->out, "  ");
		gmt_buffer_escape(text->out, report->notes[i]);
		gmt_buffer_format(text->out, "\n");
	}
	gmt_text_more(text, "  ", NOTES_SHOWN, report->nr_notes);
}
