/* Reads a trace (preload/trace.h) into a ledger. The file is not trusted: it may be anybody's. */
#ifndef GMT_REPORT_READ_TRACE_H
#define GMT_REPORT_READ_TRACE_H

#include <stddef.h>

struct gmt_arena;
struct gmt_ledger;

/*
 * NULL: error says what is wrong, with the offset; nothing is to be freed but the arena. A trace
 * that ends before its end record is read up to there, and a note of the ledger says so.
 */
struct gmt_ledger *gmt_trace_read(int fd, struct gmt_arena *arena, char *error, size_t error_bytes);

#endif
