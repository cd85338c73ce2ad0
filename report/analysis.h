/* From a ledger to the report's tree. Pure but for the symbolizer. */
#ifndef GMT_REPORT_ANALYSIS_H
#define GMT_REPORT_ANALYSIS_H

#include "report/model.h"
#include "report/report.h"
#include "report/stacks.h"

/* What the parts of the analysis share. */
struct gmt_analysis {
	struct gmt_report *report;
	const struct gmt_ledger *ledger;
	struct gmt_heap *heap;
	struct gmt_stacks *stacks;
	const struct gmt_report_stack **origins; /* of the ledger's sites, by id - 1 */
};

/* NULL: no memory. Freed with gmt_analysis_free; the ledger and symbolizer must outlive it. */
struct gmt_report *gmt_analysis_make(const struct gmt_ledger *ledger,
				     struct gmt_symbolizer *symbolizer);
void gmt_analysis_free(struct gmt_report *report);

/* The parts. False: no memory. */
bool gmt_analysis_leaks(struct gmt_analysis *analysis);
bool gmt_analysis_peaks(struct gmt_analysis *analysis);
bool gmt_analysis_sites(struct gmt_analysis *analysis);
bool gmt_analysis_devices(struct gmt_analysis *analysis); /* fragmentation.c, with the balance */
bool gmt_analysis_kernels(struct gmt_analysis *analysis);
bool gmt_analysis_errors(struct gmt_analysis *analysis);

/* What the user called: the runtime's name where the entry was handed to a runtime. */
const char *gmt_analysis_api(const struct gmt_ledger *ledger, uint16_t api,
			     const struct gmt_report_stack *stack);

/*
 * Sums the shares of a site into one and sorts, largest first. shares is the caller's and changed;
 * the result is of the heap. False: no memory.
 */
bool gmt_shares_merge(struct gmt_heap *heap, struct gmt_report_share *shares, uint32_t nr_shares,
		      struct gmt_report_shares *merged);

/* Orders by bytes, then blocks, both descending, then by site: for qsort. */
int gmt_shares_compare(uint64_t left_bytes, uint64_t right_bytes, uint64_t left_blocks,
		       uint64_t right_blocks, uint64_t left_site, uint64_t right_site);

#endif
