/* Leaks: what is still live at the end, grouped by call site, kind, device, call and class. */
#include "report/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "report/heap.h"
#include "report/names.h"

#define NR_CLASSES 3

/* The live blocks of one site of the ledger and one class. */
struct cell {
	const struct gmt_report_stack *stack;
	const char *api;
	uint64_t bytes, blocks, first_ns, last_ns;
	uint64_t handles[GMT_NR_HANDLE_STATES];
	uint32_t site; /* index of the ledger's site */
	uint32_t leak; /* index of the group it belongs to */
	int32_t device;
	uint8_t kind, leak_class;
};

struct count {
	struct cell *cells; /* by site index x NR_CLASSES + class */
	struct gmt_report_leak *leaks;
	uint64_t *sizes; /* of every block, group after group */
	uint64_t *next;	 /* where the next size of a group goes */
};

const char *gmt_analysis_api(const struct gmt_ledger *ledger, uint16_t api,
			     const struct gmt_report_stack *stack)
{
	uint16_t row = api & (uint16_t)~GMT_API_RUNTIME;
	const struct gmt_api_names *names = row < GMT_MAX_APIS ? &ledger->apis[row] : NULL;

	if (api & GMT_API_RUNTIME) {
		if (stack->runtime)
			return stack->runtime;
		if (names && names->runtime && *names->runtime)
			return names->runtime;
	}
	return names && names->abi ? names->abi : "unknown";
}

static struct cell *cell_of(struct count *count, const struct gmt_block_view *block)
{
	unsigned int leak_class = block->state == GMT_BLOCK_TEARDOWN ? GMT_CLASS_FREED_AT_TEARDOWN
				  : block->state == GMT_BLOCK_RESET  ? GMT_CLASS_RESET
								     : GMT_CLASS_ONE_TIME;

	return &count->cells[(size_t)(block->site->id - 1) * NR_CLASSES + leak_class];
}

static bool count_block(const struct gmt_block_view *block, void *data)
{
	struct cell *cell = cell_of(data, block);

	if (cell->blocks == 0 || block->time_ns < cell->first_ns)
		cell->first_ns = block->time_ns;
	if (block->time_ns > cell->last_ns)
		cell->last_ns = block->time_ns;
	cell->bytes += block->bytes;
	cell->blocks++;
	cell->handles[block->handle.state]++;
	return true;
}

static bool note_size(const struct gmt_block_view *block, void *data)
{
	struct count *count = data;

	count->sizes[count->next[cell_of(count, block)->leak]++] = block->bytes;
	return true;
}

static int compare_numbers(int64_t left, int64_t right)
{
	return (left > right) - (left < right);
}

static int compare_group(const struct cell *left, const struct cell *right)
{
	int order;

	if (left->stack->site != right->stack->site)
		return left->stack->site < right->stack->site ? -1 : 1;
	order = compare_numbers(left->kind, right->kind);
	if (!order)
		order = compare_numbers(left->device, right->device);
	if (!order)
		order = strcmp(left->api, right->api);
	if (!order)
		order = compare_numbers(left->leak_class, right->leak_class);
	return order;
}

static int compare_cells(const void *left, const void *right)
{
	const struct cell *a = *(const struct cell *const *)left;
	const struct cell *b = *(const struct cell *const *)right;
	int order = compare_group(a, b);

	return order ? order : compare_numbers(a->site, b->site);
}

/* The cells that hold something, sorted so that those of a group are neighbours. */
static struct cell **filled_cells(struct gmt_analysis *analysis, struct count *count, uint32_t *nr)
{
	const struct gmt_ledger *ledger = analysis->ledger;
	struct cell **filled = gmt_heap_take(analysis->heap, (size_t)ledger->nr_sites * NR_CLASSES,
					     sizeof(*filled));

	*nr = 0;
	if (!filled)
		return NULL;
	for (uint32_t i = 0; i < ledger->nr_sites; i++) {
		for (unsigned int j = 0; j < NR_CLASSES; j++) {
			struct cell *cell = &count->cells[(size_t)i * NR_CLASSES + j];

			if (cell->blocks == 0)
				continue;
			cell->site = i;
			cell->stack = analysis->origins[i];
			cell->api = gmt_analysis_api(ledger, ledger->sites[i]->api,
						     analysis->origins[i]);
			cell->kind = ledger->sites[i]->kind;
			cell->device = ledger->sites[i]->device;
			cell->leak_class = (uint8_t)j;
			filled[(*nr)++] = cell;
		}
	}
	qsort(filled, *nr, sizeof(*filled), compare_cells);
	return filled;
}

static const char *owner_of(const struct gmt_report_stack *stack)
{
	uint32_t at = stack->user < stack->nr_frames ? stack->user : 0;

	if (stack->nr_frames == 0 || !stack->frames[at].module)
		return NULL;
	return gmt_names_basename(stack->frames[at].module->path);
}

static void start_leak(struct gmt_report_leak *leak, const struct cell *cell)
{
	leak->api = cell->api;
	leak->stack = cell->stack;
	leak->owner = owner_of(cell->stack);
	leak->first_ns = cell->first_ns;
	leak->device = cell->device;
	leak->kind = cell->kind;
	leak->leak_class = cell->leak_class;
	/* Imported memory belongs to another process; what teardown refused to free was freed. */
	leak->counted =
		cell->kind != GMT_KIND_IMPORTED && cell->leak_class != GMT_CLASS_FREED_AT_TEARDOWN;
}

static void group(struct gmt_report *report, struct cell **cells, uint32_t nr_cells)
{
	for (uint32_t i = 0; i < nr_cells; i++) {
		struct gmt_report_leak *leak;

		if (i == 0 || compare_group(cells[i - 1], cells[i]) != 0)
			start_leak(&report->leaks[report->nr_leaks++], cells[i]);
		leak = &report->leaks[report->nr_leaks - 1];
		leak->bytes += cells[i]->bytes;
		leak->blocks += cells[i]->blocks;
		if (cells[i]->first_ns < leak->first_ns)
			leak->first_ns = cells[i]->first_ns;
		if (cells[i]->last_ns > leak->last_ns)
			leak->last_ns = cells[i]->last_ns;
		for (int j = 0; j < GMT_NR_HANDLE_STATES; j++)
			leak->handles[j] += cells[i]->handles[j];
		cells[i]->leak = report->nr_leaks - 1;
	}
}

static int compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* The larger sum first; equal sums by size. */
static int compare_sizes(const void *left, const void *right)
{
	const struct gmt_report_size *a = left, *b = right;

	return gmt_shares_compare(a->size * a->blocks, b->size * b->blocks, a->size, b->size,
				  a->blocks, b->blocks);
}

/* Counts equal sizes; more than GMT_REPORT_SIZES of them end in one row with the rest. */
static bool count_sizes(struct gmt_heap *heap, struct gmt_report_leak *leak, uint64_t *sizes)
{
	uint64_t distinct = 0;
	struct gmt_report_size *rows;

	qsort(sizes, leak->blocks, sizeof(*sizes), compare_u64);
	for (uint64_t i = 0; i < leak->blocks; i++)
		distinct += i == 0 || sizes[i] != sizes[i - 1];
	rows = gmt_heap_take(heap, distinct, sizeof(*rows));
	if (!rows)
		return false;
	distinct = 0;
	for (uint64_t i = 0; i < leak->blocks; i++) {
		if (i == 0 || sizes[i] != sizes[i - 1])
			rows[distinct++].size = sizes[i];
		rows[distinct - 1].blocks++;
	}
	qsort(rows, distinct, sizeof(*rows), compare_sizes);
	leak->sizes = rows;
	leak->nr_sizes = distinct <= GMT_REPORT_SIZES ? (uint32_t)distinct : GMT_REPORT_SIZES + 1;
	if (distinct <= GMT_REPORT_SIZES)
		return true;
	rows[GMT_REPORT_SIZES].size *= rows[GMT_REPORT_SIZES].blocks;
	rows[GMT_REPORT_SIZES].rest = true;
	for (uint64_t i = GMT_REPORT_SIZES + 1; i < distinct; i++) {
		rows[GMT_REPORT_SIZES].size += rows[i].size * rows[i].blocks;
		rows[GMT_REPORT_SIZES].blocks += rows[i].blocks;
	}
	return true;
}

static bool collect_sizes(struct gmt_analysis *analysis, struct count *count)
{
	struct gmt_report *report = analysis->report;
	uint64_t blocks = 0;

	count->next = gmt_heap_take(analysis->heap, report->nr_leaks, sizeof(*count->next));
	if (!count->next)
		return false;
	for (uint32_t i = 0; i < report->nr_leaks; i++) {
		count->next[i] = blocks;
		blocks += report->leaks[i].blocks;
	}
	/* Not of the heap: given back at once, it may be large. */
	count->sizes = malloc((blocks ? blocks : 1) * sizeof(*count->sizes));
	if (!count->sizes)
		return false;
	gmt_ledger_each_block(analysis->ledger, note_size, count);
	for (uint32_t i = 0; i < report->nr_leaks; i++) {
		struct gmt_report_leak *leak = &report->leaks[i];

		if (!count_sizes(analysis->heap, leak,
				 count->sizes + count->next[i] - leak->blocks))
			break;
	}
	free(count->sizes);
	return !gmt_heap_failed(analysis->heap);
}

static int compare_leaks(const void *left, const void *right)
{
	const struct gmt_report_leak *a = left, *b = right;
	int order = gmt_shares_compare(a->bytes, b->bytes, a->blocks, b->blocks, a->stack->site,
				       b->stack->site);

	if (!order)
		order = compare_numbers(a->kind, b->kind);
	if (!order)
		order = compare_numbers(a->device, b->device);
	if (!order)
		order = strcmp(a->api, b->api);
	return order ? order : compare_numbers(a->leak_class, b->leak_class);
}

bool gmt_analysis_leaks(struct gmt_analysis *analysis)
{
	struct gmt_report *report = analysis->report;
	struct count count = { 0 };
	struct cell **cells;
	uint32_t nr_cells;

	count.cells = gmt_heap_take(analysis->heap, (size_t)analysis->ledger->nr_sites * NR_CLASSES,
				    sizeof(*count.cells));
	if (!count.cells)
		return false;
	gmt_ledger_each_block(analysis->ledger, count_block, &count);
	cells = filled_cells(analysis, &count, &nr_cells);
	report->leaks = gmt_heap_take(analysis->heap, nr_cells, sizeof(*report->leaks));
	if (!cells || !report->leaks)
		return false;
	group(report, cells, nr_cells);
	if (!collect_sizes(analysis, &count))
		return false;
	qsort(report->leaks, report->nr_leaks, sizeof(*report->leaks), compare_leaks);
	return true;
}
