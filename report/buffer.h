/* Text that grows. A failure sticks; nothing is cut silently. */
#ifndef GMT_REPORT_BUFFER_H
#define GMT_REPORT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmt_buffer {
	char *text; /* from malloc; not terminated */
	size_t bytes, room;
	bool failed; /* no memory */
};

void gmt_buffer_free(struct gmt_buffer *buffer);

/* Room for so many bytes, so that adding them moves nothing. False: no memory. */
bool gmt_buffer_reserve(struct gmt_buffer *buffer, size_t bytes);

void gmt_buffer_add(struct gmt_buffer *buffer, const char *text, size_t bytes);

__attribute__((format(printf, 2, 3))) void gmt_buffer_format(struct gmt_buffer *buffer,
							     const char *format, ...);

/*
 * Text that comes from the program: control characters, bidirectional overrides and what is not
 * UTF-8 are written as escapes, so that a terminal shows nothing but letters. NULL: "?".
 */
void gmt_buffer_escape(struct gmt_buffer *buffer, const char *text);

/* Sizes in IEC units with one digit: "512 bytes", "40.0 MiB". */
void gmt_buffer_size(struct gmt_buffer *buffer, uint64_t bytes);

/* 41943040 as "41,943,040". */
void gmt_buffer_count(struct gmt_buffer *buffer, uint64_t number);

/* "1 block", "1,234 blocks". */
void gmt_buffer_plural(struct gmt_buffer *buffer, uint64_t number, const char *one,
		       const char *many);

/* A time since the start in seconds: "1.234 s". */
void gmt_buffer_time(struct gmt_buffer *buffer, uint64_t ns);

/* Length of the UTF-8 sequence at text, with its code point; 0: it is not one. */
size_t gmt_utf8_next(const char *text, uint32_t *point);

#endif
