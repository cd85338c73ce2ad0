/* Names of single addresses, each looked up once: many stacks share their outer frames. */
#ifndef GMT_REPORT_LOCATIONS_H
#define GMT_REPORT_LOCATIONS_H

#include "report/model.h"
#include "report/names.h"
#include "report/report.h"

struct gmt_location_name {
	const char *raw;      /* NULL: unknown */
	const char *function; /* for people; NULL: unknown */
	const char *file;
	uint32_t line, column;
	bool inlined;
	enum gmt_code code;
};

struct gmt_location {
	const struct gmt_module *module; /* NULL: no file holds it */
	uint64_t offset;
	uint32_t nr_names; /* at least 1; the last is the physical function */
	struct gmt_location_name *names;
};

struct gmt_locations;

/* NULL: no memory. */
struct gmt_locations *gmt_locations_new(struct gmt_heap *heap, const struct gmt_ledger *ledger,
					struct gmt_symbolizer *symbolizer);

/* NULL: no memory. */
const struct gmt_location *gmt_locations_get(struct gmt_locations *locations,
					     const struct gmt_frame *frame);

#endif
