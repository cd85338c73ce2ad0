/* The formats. Pure: from a report to text in memory. */
#ifndef GMT_REPORT_EMIT_H
#define GMT_REPORT_EMIT_H

#include "report/buffer.h"
#include "report/model.h"

/* The text report, without the summary line. color: for a terminal. False: no memory. */
bool gmt_emit_text(const struct gmt_report *report, bool color, struct gmt_buffer *out);

/* "gmtrace: SUMMARY: …", one line. */
bool gmt_emit_summary(const struct gmt_report *report, struct gmt_buffer *out);

/* Schema 1. False: no memory. */
bool gmt_emit_json(const struct gmt_report *report, struct gmt_buffer *out);

#endif
