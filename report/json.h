/*
 * Writes a JSON document piece by piece: memory is needed for the text alone, and a stack that
 * many objects have is formatted once. Single values are made and written by jansson.
 *
 * A failure (no memory) sticks in the buffer that is written to.
 */
#ifndef GMT_REPORT_JSON_H
#define GMT_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/buffer.h"
#include "report/model.h"

struct gmt_json {
	struct gmt_buffer *out;
	unsigned int depth; /* of open brackets */
	bool first;	    /* nothing stands in the innermost bracket yet */
};

/* Key is NULL in arrays. bracket is '{' or '['; the end has the matching one. */
void gmt_json_open(struct gmt_json *json, const char *key, char bracket);
void gmt_json_close(struct gmt_json *json, char bracket);
/* Takes the value over; NULL: jansson had no memory for it. */
void gmt_json_put(struct gmt_json *json, const char *key, json_t *value);

/* What is not UTF-8 becomes U+FFFD; NULL becomes null. */
json_t *gmt_json_text(const char *text);
/* "0x0123456789abcdef" */
json_t *gmt_json_address(uint64_t address);
/* JSON's readers have 64-bit signed numbers at best; a larger one is a damaged trace's. */
json_t *gmt_json_count(uint64_t number);
/* Nanoseconds as seconds. */
json_t *gmt_json_time(uint64_t ns);
json_t *gmt_json_device(int32_t device); /* GMT_NO_DEVICE: null */

void gmt_json_stack(struct gmt_json *json, const char *key, const struct gmt_report_stack *stack);
/* [{bytes, blocks, site, stack}] */
void gmt_json_shares(struct gmt_json *json, const char *key,
		     const struct gmt_report_shares *shares);

/* Parts of the document, each with its key. */
void gmt_json_errors(struct gmt_json *json, const struct gmt_report *report);
void gmt_json_leaks(struct gmt_json *json, const struct gmt_report *report);
void gmt_json_peaks(struct gmt_json *json, const struct gmt_report *report);
void gmt_json_sites(struct gmt_json *json, const struct gmt_report *report);
void gmt_json_kernels(struct gmt_json *json, const struct gmt_report *report);
void gmt_json_devices(struct gmt_json *json, const struct gmt_report *report);
void gmt_json_fragmentation(struct gmt_json *json, const struct gmt_report *report);

#endif
