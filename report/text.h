/* Pieces of the text report, shared by the files that write its sections. */
#ifndef GMT_REPORT_TEXT_H
#define GMT_REPORT_TEXT_H

#include "report/buffer.h"
#include "report/model.h"

#define GMT_TEXT_GROUPS 10 /* of a section */

struct gmt_text {
	struct gmt_buffer *out;
	bool color;
};

enum gmt_paint {
	GMT_PAINT_BOLD,
	GMT_PAINT_RED,
	GMT_PAINT_GREEN,
	GMT_PAINT_YELLOW,
};

/* The words in a colour, if there are colours. */
void gmt_text_paint(const struct gmt_text *text, enum gmt_paint paint, const char *words);

/* A blank line and the section's name. */
void gmt_text_title(const struct gmt_text *text, const char *title);

/* A function's name, escaped, a very long one cut. */
void gmt_text_name(const struct gmt_text *text, const char *name);

/* "function file:line", or "module+0xoffset (build-id …)"; no line end. */
void gmt_text_frame(const struct gmt_text *text, const struct gmt_report_frame *frame);

/*
 * Where the share's stack is: the first frame of the user's code, and as many callers as it takes
 * to tell it from the others, for a program that allocates through one function of its own.
 */
void gmt_text_where(const struct gmt_text *text, const struct gmt_report_shares *shares,
		    uint32_t index);

/* "40.0 MiB in 10 blocks" */
void gmt_text_amount(const struct gmt_text *text, uint64_t bytes, uint64_t blocks);

/* "… and 5 more (json=)" with its line end, if there are more than were shown. */
void gmt_text_more(const struct gmt_text *text, const char *indent, uint64_t shown, uint64_t all);

/* "12.3 %" of a part; whole is not 0. */
void gmt_text_percent(const struct gmt_text *text, uint64_t part, uint64_t whole);

/* Sections; each writes nothing if it is empty. */
void gmt_text_leaks(const struct gmt_text *text, const struct gmt_report *report);
void gmt_text_peaks(const struct gmt_text *text, const struct gmt_report *report);
void gmt_text_fragmentation(const struct gmt_text *text, const struct gmt_report *report);
void gmt_text_errors(const struct gmt_text *text, const struct gmt_report *report);
void gmt_text_kernels(const struct gmt_text *text, const struct gmt_report *report);
void gmt_text_balance(const struct gmt_text *text, const struct gmt_report *report);
void gmt_text_coverage(const struct gmt_text *text, const struct gmt_report *report);

#endif
