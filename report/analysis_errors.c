/* Errors: mistaken frees, with where they were made and where the memory came from. */
#include "report/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "report/heap.h"

static const char *const error_names[GMT_NR_ERRORS] = { GMT_ERROR_NAMES };

static int compare_errors(const void *left, const void *right)
{
	const struct gmt_report_error *a = left, *b = right;
	int order;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	order = strcmp(a->kind, b->kind);
	if (!order)
		order = strcmp(a->api, b->api);
	if (!order && a->time_ns != b->time_ns)
		order = a->time_ns < b->time_ns ? -1 : 1;
	return order;
}

bool gmt_analysis_errors(struct gmt_analysis *analysis)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	struct gmt_report *report = analysis->report;

	report->errors = gmt_heap_take(analysis->heap, ledger->nr_errors, sizeof(*report->errors));
	if (!report->errors)
		return false;
	for (const struct gmt_error *error = ledger->errors; error; error = error->next) {
		const struct gmt_report_stack *stack =
			gmt_stacks_get(analysis->stacks, error->stack);
		const struct gmt_report_stack *alloc_stack =
			gmt_stacks_get(analysis->stacks, error->alloc_stack);

		if (!stack || !alloc_stack || report->nr_errors == ledger->nr_errors)
			return false;
		report->errors[report->nr_errors++] = (struct gmt_report_error){
			.kind = error_names[error->kind],
			.api = gmt_analysis_api(ledger, error->api, stack),
			.address = error->address,
			.time_ns = error->time_ns,
			.count = error->count,
			.stack = stack,
			.alloc_stack = alloc_stack,
		};
		if (error->kind != GMT_ERROR_OOM)
			report->bad_frees += error->count;
	}
	qsort(report->errors, report->nr_errors, sizeof(*report->errors), compare_errors);
	return true;
}
