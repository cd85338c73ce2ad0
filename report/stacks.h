/*
 * From stack ids to the stacks of the report: named once, trimmed, folded, hashed. Everything
 * lives in the report's heap.
 */
#ifndef GMT_REPORT_STACKS_H
#define GMT_REPORT_STACKS_H

#include "report/model.h"
#include "report/report.h"

struct gmt_stacks;

/* NULL: no memory. symbolizer may be NULL. */
struct gmt_stacks *gmt_stacks_new(struct gmt_heap *heap, const struct gmt_ledger *ledger,
				  struct gmt_symbolizer *symbolizer);

/* The stack of this id; an empty one if the id is 0 or unknown. NULL: no memory. */
const struct gmt_report_stack *gmt_stacks_get(struct gmt_stacks *stacks, uint32_t id);

/* Text for people from a possibly mangled name. */
const char *gmt_stacks_demangle(struct gmt_stacks *stacks, const char *raw);

#endif
