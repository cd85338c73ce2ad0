/* Owns how single values are written in JSON. */
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/buffer.h"

void gmt_json_put(struct gmt_json *json, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		json->failed = true;
}

void gmt_json_push(struct gmt_json *json, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		json->failed = true;
}

json_t *gmt_json_text(const char *text)
{
	struct gmt_buffer buffer = { 0 };
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	while (*text) {
		uint32_t point;
		size_t bytes = gmt_utf8_next(text, &point);

		if (bytes)
			gmt_buffer_add(&buffer, text, bytes);
		else
			gmt_buffer_add(&buffer, "\xef\xbf\xbd", 3);
		text += bytes ? bytes : 1;
	}
	value = buffer.failed ? NULL : json_stringn(buffer.text ? buffer.text : "", buffer.bytes);
	gmt_buffer_free(&buffer);
	return value;
}

json_t *gmt_json_address(uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, address);
	return json_string(text);
}

json_t *gmt_json_count(uint64_t number)
{
	return json_integer(number <= INT64_MAX ? (json_int_t)number : INT64_MAX);
}

json_t *gmt_json_time(uint64_t ns)
{
	return json_real((double)ns / 1e9);
}

json_t *gmt_json_device(int32_t device)
{
	return device == GMT_NO_DEVICE ? json_null() : json_integer(device);
}

static json_t *build_id(const struct gmt_module *module)
{
	char text[2 * sizeof(module->build_id) + 1] = "";
	uint32_t bytes = module->build_id_bytes;

	if (bytes == 0)
		return json_null();
	if (bytes > sizeof(module->build_id))
		bytes = sizeof(module->build_id);
	for (uint32_t i = 0; i < bytes; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", module->build_id[i]);
	return json_string(text);
}

static json_t *frame(struct gmt_json *json, const struct gmt_report_frame *frame)
{
	json_t *object = json_object();

	gmt_json_put(json, object, "function", gmt_json_text(frame->function));
	gmt_json_put(json, object, "file", gmt_json_text(frame->file));
	gmt_json_put(json, object, "line", frame->line ? json_integer(frame->line) : json_null());
	gmt_json_put(json, object, "column",
		     frame->column ? json_integer(frame->column) : json_null());
	gmt_json_put(json, object, "module",
		     frame->module ? gmt_json_text(frame->module->path) : json_null());
	gmt_json_put(json, object, "offset", gmt_json_address(frame->offset));
	gmt_json_put(json, object, "build_id",
		     frame->module ? build_id(frame->module) : json_null());
	gmt_json_put(json, object, "lang", json_string("c"));
	gmt_json_put(json, object, "inlined", json_boolean(frame->inlined));
	return object;
}

json_t *gmt_json_stack(struct gmt_json *json, const struct gmt_report_stack *stack)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < stack->nr_frames; i++)
		gmt_json_push(json, array, frame(json, &stack->frames[i]));
	return array;
}

json_t *gmt_json_shares(struct gmt_json *json, const struct gmt_report_shares *shares)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < shares->nr_shares; i++) {
		const struct gmt_report_share *share = &shares->shares[i];
		json_t *object = json_object();

		gmt_json_put(json, object, "bytes", gmt_json_count(share->bytes));
		gmt_json_put(json, object, "blocks", gmt_json_count(share->blocks));
		gmt_json_put(json, object, "site", gmt_json_address(share->stack->site));
		gmt_json_put(json, object, "stack", gmt_json_stack(json, share->stack));
		gmt_json_push(json, array, object);
	}
	return array;
}
