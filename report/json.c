/* Owns the punctuation of the JSON report, and how single values and stacks are written. */
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 15 digits are what a double holds for sure: no 0.10000000000000001. */
#define FLAGS (JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

/* Keys of the document, and one line for each of what they hold; further in there are no lines. */
#define LINES_DEPTH 2

static void begin_entry(struct gmt_json *json, const char *key)
{
	if (!json->first)
		gmt_buffer_add(json->out, ",", 1);
	if (json->depth == 0)
		;
	else if (json->depth <= LINES_DEPTH)
		gmt_buffer_format(json->out, "\n%*s", (int)json->depth, "");
	else if (!json->first)
		gmt_buffer_add(json->out, " ", 1);
	json->first = false;
	if (key)
		gmt_buffer_format(json->out, "\"%s\": ", key);
}

void gmt_json_open(struct gmt_json *json, const char *key, char bracket)
{
	begin_entry(json, key);
	gmt_buffer_add(json->out, &bracket, 1);
	json->depth++;
	json->first = true;
}

void gmt_json_close(struct gmt_json *json, char bracket)
{
	json->depth--;
	if (!json->first && json->depth < LINES_DEPTH)
		gmt_buffer_format(json->out, "\n%*s", (int)json->depth, "");
	gmt_buffer_add(json->out, &bracket, 1);
	json->first = false;
}

static int append(const char *text, size_t bytes, void *data)
{
	struct gmt_buffer *out = data;

	gmt_buffer_add(out, text, bytes);
	return out->failed ? -1 : 0;
}

void gmt_json_put(struct gmt_json *json, const char *key, json_t *value)
{
	begin_entry(json, key);
	if (!value || json_dump_callback(value, append, json->out, FLAGS) != 0)
		json->out->failed = true;
	json_decref(value);
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

static void put_frame(struct gmt_json *json, const struct gmt_report_frame *frame)
{
	const struct gmt_module *module = frame->module;

	gmt_json_open(json, NULL, '{');
	gmt_json_put(json, "function", gmt_json_text(frame->function));
	gmt_json_put(json, "file", gmt_json_text(frame->file));
	gmt_json_put(json, "line", frame->line ? json_integer(frame->line) : json_null());
	gmt_json_put(json, "column", frame->column ? json_integer(frame->column) : json_null());
	gmt_json_put(json, "module", module ? gmt_json_text(module->path) : json_null());
	gmt_json_put(json, "offset", gmt_json_address(frame->offset));
	gmt_json_put(json, "build_id", module ? build_id(module) : json_null());
	gmt_json_put(json, "lang", json_string("c"));
	gmt_json_put(json, "inlined", json_boolean(frame->inlined));
	gmt_json_close(json, '}');
}

void gmt_json_stack(struct gmt_json *json, const char *key, const struct gmt_report_stack *stack)
{
	struct gmt_report_written *written = stack->written;
	size_t bytes = written->end - written->start;

	gmt_json_open(json, key, '[');
	if (bytes) {
		/* The copy is taken from the buffer itself, which must not move meanwhile. */
		if (gmt_buffer_reserve(json->out, bytes))
			gmt_buffer_add(json->out, json->out->text + written->start, bytes);
		json->first = false;
	} else {
		written->start = json->out->bytes;
		for (uint32_t i = 0; i < stack->nr_frames; i++)
			put_frame(json, &stack->frames[i]);
		written->end = json->out->bytes;
	}
	gmt_json_close(json, ']');
}

void gmt_json_shares(struct gmt_json *json, const char *key, const struct gmt_report_shares *shares)
{
	gmt_json_open(json, key, '[');
	for (uint32_t i = 0; i < shares->nr_shares; i++) {
		const struct gmt_report_share *share = &shares->shares[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "bytes", gmt_json_count(share->bytes));
		gmt_json_put(json, "blocks", gmt_json_count(share->blocks));
		gmt_json_put(json, "site", gmt_json_address(share->stack->site));
		gmt_json_stack(json, "stack", share->stack);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}
