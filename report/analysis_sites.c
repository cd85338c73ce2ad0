/* Who took part in what, by call site: peaks, all sites, kernels. */
#include "report/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "report/heap.h"

int gmt_shares_compare(uint64_t left_bytes, uint64_t right_bytes, uint64_t left_blocks,
		       uint64_t right_blocks, uint64_t left_site, uint64_t right_site)
{
	if (left_bytes != right_bytes)
		return left_bytes > right_bytes ? -1 : 1;
	if (left_blocks != right_blocks)
		return left_blocks > right_blocks ? -1 : 1;
	return (left_site > right_site) - (left_site < right_site);
}

static int by_site(const void *left, const void *right)
{
	const struct gmt_report_share *a = left, *b = right;

	if (a->stack->site != b->stack->site)
		return a->stack->site < b->stack->site ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int by_bytes(const void *left, const void *right)
{
	const struct gmt_report_share *a = left, *b = right;
	int order = gmt_shares_compare(a->bytes, b->bytes, a->blocks, b->blocks, 0, 0);

	if (order)
		return order;
	return gmt_shares_compare(a->worst_bytes, b->worst_bytes, a->worst_blocks, b->worst_blocks,
				  a->stack->site, b->stack->site);
}

bool gmt_shares_merge(struct gmt_heap *heap, struct gmt_report_share *shares, uint32_t nr_shares,
		      struct gmt_report_shares *merged)
{
	uint32_t nr_merged = 0;

	qsort(shares, nr_shares, sizeof(*shares), by_site);
	for (uint32_t i = 0; i < nr_shares; i++) {
		struct gmt_report_share *into = &shares[nr_merged];

		if (i == 0 || into[-1].stack->site != shares[i].stack->site) {
			*into = shares[i];
			nr_merged++;
			continue;
		}
		into[-1].bytes += shares[i].bytes;
		into[-1].blocks += shares[i].blocks;
		into[-1].pages += shares[i].pages;
		into[-1].worst_bytes += shares[i].worst_bytes;
		into[-1].worst_blocks += shares[i].worst_blocks;
	}
	qsort(shares, nr_merged, sizeof(*shares), by_bytes);
	merged->shares = gmt_heap_take(heap, nr_merged, sizeof(*shares));
	if (!merged->shares)
		return false;
	memcpy(merged->shares, shares, nr_merged * sizeof(*shares));
	merged->nr_shares = nr_merged;
	return true;
}

/* The sites that held something at the peak of a device, or of the process (GMT_NO_DEVICE). */
static bool find_owners(struct gmt_analysis *analysis, int32_t device,
			struct gmt_report_shares *owners)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	enum gmt_moment moment =
		device == GMT_NO_DEVICE ? GMT_MOMENT_PROCESS_PEAK : GMT_MOMENT_DEVICE_PEAK;
	struct gmt_report_share *shares = calloc((size_t)ledger->nr_sites + 1, sizeof(*shares));
	uint32_t nr_shares = 0;
	bool done;

	if (!shares)
		return false;
	for (uint32_t i = 0; i < ledger->nr_sites; i++) {
		const struct gmt_site *site = ledger->sites[i];
		struct gmt_share share;

		if (device != GMT_NO_DEVICE && site->device != device)
			continue;
		share = gmt_ledger_share(ledger, site, moment);
		if (share.blocks == 0)
			continue;
		shares[nr_shares++] = (struct gmt_report_share){
			.stack = analysis->origins[i],
			.order = i,
			.bytes = share.bytes,
			.blocks = share.blocks,
		};
	}
	done = gmt_shares_merge(analysis->heap, shares, nr_shares, owners);
	free(shares);
	return done;
}

static bool add_peak(struct gmt_analysis *analysis, int32_t device, const struct gmt_scope *scope)
{
	struct gmt_report *report = analysis->report;
	struct gmt_report_peak *peak = &report->peaks[report->nr_peaks];

	if (scope->peak_bytes == 0)
		return true;
	report->nr_peaks++;
	peak->device = device;
	peak->bytes = scope->peak_bytes;
	peak->time_ns = scope->peak_time_ns;
	return find_owners(analysis, device, &peak->owners);
}

bool gmt_analysis_peaks(struct gmt_analysis *analysis)
{
	const struct gmt_ledger *ledger = analysis->ledger;

	analysis->report->peaks = gmt_heap_take(analysis->heap, GMT_MAX_DEVICES + 1,
						sizeof(*analysis->report->peaks));
	if (!analysis->report->peaks)
		return false;
	for (int32_t i = 0; i < GMT_MAX_DEVICES; i++)
		if (ledger->devices[i].seen && !add_peak(analysis, i, &ledger->devices[i].scope))
			return false;
	return add_peak(analysis, GMT_NO_DEVICE, &ledger->process_scope);
}

/* The geometric middle of the bucket in which the median falls. Negative: nothing was freed. */
static double median_of(const uint64_t buckets[GMT_LIFETIME_BUCKETS])
{
	uint64_t total = 0, below = 0;

	for (int i = 0; i < GMT_LIFETIME_BUCKETS; i++)
		total += buckets[i];
	if (total == 0)
		return -1;
	for (int i = 0; i < GMT_LIFETIME_BUCKETS; i++) {
		below += buckets[i];
		if (below * 2 >= total)
			return 1.41421356237309505 * (double)(UINT64_C(1) << i) / 1e9;
	}
	return -1;
}

struct ranked {
	const struct gmt_report_stack *stack;
	const struct gmt_site *site;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->stack->site != b->stack->site)
		return a->stack->site < b->stack->site ? -1 : 1;
	return (a->site->id > b->site->id) - (a->site->id < b->site->id);
}

static int compare_sites(const void *left, const void *right)
{
	const struct gmt_report_site *a = left, *b = right;

	return gmt_shares_compare(a->total_bytes, b->total_bytes, a->allocations, b->allocations,
				  a->stack->site, b->stack->site);
}

/* Adds a site of the ledger. Peaks are summed: at most that much, if they were not at one time. */
static void add_site(struct gmt_report_site *into, const struct gmt_site *site,
		     uint64_t buckets[GMT_LIFETIME_BUCKETS])
{
	into->allocations += site->allocations;
	into->frees += site->frees;
	into->live_bytes += site->live_bytes;
	into->peak_bytes += site->peak_bytes;
	into->total_bytes += site->total_bytes;
	for (int i = 0; i < GMT_LIFETIME_BUCKETS; i++)
		buckets[i] += site->lifetimes[i];
}

bool gmt_analysis_sites(struct gmt_analysis *analysis)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	struct gmt_report *report = analysis->report;
	struct ranked *ranked = gmt_heap_take(analysis->heap, ledger->nr_sites, sizeof(*ranked));
	uint64_t buckets[GMT_LIFETIME_BUCKETS] = { 0 };

	report->sites = gmt_heap_take(analysis->heap, ledger->nr_sites, sizeof(*report->sites));
	if (!ranked || !report->sites)
		return false;
	for (uint32_t i = 0; i < ledger->nr_sites; i++)
		ranked[i] = (struct ranked){ analysis->origins[i], ledger->sites[i] };
	qsort(ranked, ledger->nr_sites, sizeof(*ranked), compare_ranked);
	for (uint32_t i = 0; i < ledger->nr_sites; i++) {
		if (i == 0 || ranked[i].stack->site != ranked[i - 1].stack->site) {
			memset(buckets, 0, sizeof(buckets));
			report->sites[report->nr_sites++].stack = ranked[i].stack;
		}
		add_site(&report->sites[report->nr_sites - 1], ranked[i].site, buckets);
		report->sites[report->nr_sites - 1].lifetime_median = median_of(buckets);
	}
	qsort(report->sites, report->nr_sites, sizeof(*report->sites), compare_sites);
	return true;
}

static bool add_kernel(struct gmt_analysis *analysis, const struct gmt_kernel *kernel)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	struct gmt_report_kernel *into = &analysis->report->kernels[analysis->report->nr_kernels++];
	struct gmt_report_share *shares;
	uint32_t nr_shares = 0;

	for (const struct gmt_kernel_site *part = kernel->sites; part; part = part->next)
		nr_shares++;
	shares = gmt_heap_take(analysis->heap, nr_shares, sizeof(*shares));
	if (!shares)
		return false;
	nr_shares = 0;
	into->kernel = kernel;
	into->name = gmt_stacks_demangle(analysis->stacks, kernel->name);
	/* CUPTI alone sees those of graphs, and our hooks alone those of which it lost the record.
	 */
	into->launches = kernel->launches > kernel->records ? kernel->launches : kernel->records;
	for (const struct gmt_kernel_site *part = kernel->sites; part; part = part->next) {
		if (part->site == 0 || part->site > ledger->nr_sites)
			continue;
		into->passed_blocks += part->blocks;
		shares[nr_shares++] = (struct gmt_report_share){
			.stack = analysis->origins[part->site - 1],
			.order = part->site,
			.bytes = part->bytes,
			.blocks = part->blocks,
		};
	}
	return gmt_shares_merge(analysis->heap, shares, nr_shares, &into->passed);
}

static int compare_kernels(const void *left, const void *right)
{
	const struct gmt_report_kernel *a = left, *b = right;
	int order = gmt_shares_compare(a->kernel->gpu_time_ns, b->kernel->gpu_time_ns, a->launches,
				       b->launches, 0, 0);

	if (!order)
		order = gmt_shares_compare(a->kernel->bytes_referenced, b->kernel->bytes_referenced,
					   0, 0, 0, 0);
	if (!order)
		order = strcmp(a->name, b->name);
	if (!order)
		order = (a->kernel->device > b->kernel->device) -
			(a->kernel->device < b->kernel->device);
	return order ? order : strcmp(a->kernel->name, b->kernel->name);
}

bool gmt_analysis_kernels(struct gmt_analysis *analysis)
{
	struct gmt_report *report = analysis->report;

	report->kernels = gmt_heap_take(analysis->heap, analysis->ledger->nr_kernels,
					sizeof(*report->kernels));
	if (!report->kernels)
		return false;
	for (uint32_t i = 0; i < analysis->ledger->nr_kernels; i++)
		if (!add_kernel(analysis, analysis->ledger->kernel_by_id[i]))
			return false;
	qsort(report->kernels, report->nr_kernels, sizeof(*report->kernels), compare_kernels);
	return true;
}
