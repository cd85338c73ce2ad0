/*
 * Building blocks of the JSON report on jansson. A document is built with one struct gmt_json,
 * which remembers that memory ran out; values that could not be made are left out then.
 */
#ifndef GMT_REPORT_JSON_H
#define GMT_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/model.h"

struct gmt_json {
	bool failed;
};

/* Both take value over. */
void gmt_json_put(struct gmt_json *json, json_t *object, const char *key, json_t *value);
void gmt_json_push(struct gmt_json *json, json_t *array, json_t *value);

/* What is not UTF-8 becomes U+FFFD; NULL becomes null. */
json_t *gmt_json_text(const char *text);
/* "0x0123456789abcdef" */
json_t *gmt_json_address(uint64_t address);
/* JSON's readers have 64-bit signed numbers at best; a larger one is a damaged trace's. */
json_t *gmt_json_count(uint64_t number);
/* Nanoseconds as seconds. */
json_t *gmt_json_time(uint64_t ns);
json_t *gmt_json_device(int32_t device); /* GMT_NO_DEVICE: null */
json_t *gmt_json_stack(struct gmt_json *json, const struct gmt_report_stack *stack);
/* [{bytes, blocks, site, stack}] */
json_t *gmt_json_shares(struct gmt_json *json, const struct gmt_report_shares *shares);

/* Arrays of the parts. */
json_t *gmt_json_leaks(struct gmt_json *json, const struct gmt_report *report);
json_t *gmt_json_peaks(struct gmt_json *json, const struct gmt_report *report);
json_t *gmt_json_sites(struct gmt_json *json, const struct gmt_report *report);
json_t *gmt_json_kernels(struct gmt_json *json, const struct gmt_report *report);
json_t *gmt_json_devices(struct gmt_json *json, const struct gmt_report *report);
json_t *gmt_json_fragmentation(struct gmt_json *json, const struct gmt_report *report);

#endif
