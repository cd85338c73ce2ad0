/* What read_trace.c and read_rows.c share. */
#ifndef GMT_REPORT_READ_ROWS_H
#define GMT_REPORT_READ_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/ledger.h"

struct reader {
	struct gmt_ledger *ledger;
	const char *at, *end;	     /* what is left of the record */
	char text[GMT_NAME_MAX + 1]; /* the last string read */
	const char *problem;
	uint32_t argv_room, passed_room;
};

/* Sets the problem; always false. */
bool gmt_trace_fail(struct reader *reader, const char *problem);

/* Sets a problem unless done. */
bool gmt_trace_kept(struct reader *reader, bool done);

/* Reads the row that lies at reader->at into the ledger. False: the problem is set. */
bool gmt_trace_read_row(struct reader *reader, uint32_t type);

#endif
