/* Names by elfutils' libdw; only in the program gmtrace. */
#ifndef GMT_REPORT_SYMBOLIZE_H
#define GMT_REPORT_SYMBOLIZE_H

#include "report/report.h"

/*
 * pid: the traced process while it is still there, 0 offline: its program is found even if its
 * file was removed. NULL: no memory.
 */
struct gmt_symbolizer *gmt_symbolizer_new(int pid);
void gmt_symbolizer_free(struct gmt_symbolizer *symbolizer);

/* demangle.cc: a name for people from malloc, or NULL if raw is not a mangled one. */
char *gmt_demangle(const char *raw);

#endif
