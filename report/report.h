/*
 * From a ledger to a report. Runs once, at the process's end or offline; no lock, no CUDA.
 * What it is handed may come from a damaged or hostile trace.
 */
#ifndef GMT_REPORT_REPORT_H
#define GMT_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ledger.h"

/* One function at an address: inlined ones first, innermost first, the physical one last. */
struct gmt_name {
	const char *function;  /* as the symbol table or DWARF has it (mangled); NULL: unknown */
	const char *demangled; /* for people; NULL: as function */
	const char *file;      /* NULL: unknown */
	uint32_t line, column; /* 0: unknown */
	bool inlined;
};

#define GMT_NAMES_MAX 64

struct gmt_names {
	uint32_t count; /* 0: nothing is known */
	struct gmt_name names[GMT_NAMES_MAX];
};

/*
 * Where names come from. Strings live as long as the symbolizer. offset is a return address: the
 * call lies just before it. False: nothing is known about the address.
 */
struct gmt_symbolizer {
	bool (*resolve)(struct gmt_symbolizer *self, const struct gmt_module *module,
			uint64_t offset, struct gmt_names *names);
	/* A C++ name for people; raw itself if it is none. */
	const char *(*demangle)(struct gmt_symbolizer *self, const char *raw);
};

/*
 * The report of a process's end: builds it, judges the gates, calls before_output (if not NULL)
 * when only writing is left, and writes text and JSON where the ledger's paths say. Without a
 * symbolizer a frame is module, offset and build-id.
 *
 * outcome->exit_code is always set. False: no memory for a report; stderr has said so.
 */
bool gmt_report_finish(const struct gmt_ledger *ledger, struct gmt_symbolizer *symbolizer,
		       void (*before_output)(void *data), void *data, struct gmt_outcome *outcome);

/*
 * The same for a trace at leisure: text goes to text_path ("-" is stdout) unless NULL, JSON to
 * json_path unless NULL. False: something could not be built or written; stderr has said so.
 */
bool gmt_report_write(const struct gmt_ledger *ledger, struct gmt_symbolizer *symbolizer,
		      const char *text_path, const char *json_path, struct gmt_outcome *outcome);

#endif
