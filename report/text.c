/* Owns how frames, amounts and titles look in the text report. */
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#include "report/names.h"

/* Names of templates can be pages long; the JSON report has them whole. */
#define NAME_SHOWN 160

#define CALLERS_SHOWN 3

#define BUILD_ID_SHOWN 8 /* bytes: enough to tell files apart */

void gmt_text_paint(const struct gmt_text *text, enum gmt_paint paint, const char *words)
{
	static const char *const codes[] = { "1", "1;31", "1;32", "1;33" };

	if (text->color)
		gmt_buffer_format(text->out, "\033[%sm%s\033[0m", codes[paint], words);
	else
		gmt_buffer_format(text->out, "%s", words);
}

void gmt_text_title(const struct gmt_text *text, const char *title)
{
	gmt_buffer_add(text->out, "\n", 1);
	gmt_text_paint(text, GMT_PAINT_BOLD, title);
	gmt_buffer_add(text->out, "\n", 1);
}

void gmt_text_name(const struct gmt_text *text, const char *name)
{
	char cut[NAME_SHOWN + 1];
	size_t bytes = strlen(name);

	if (bytes <= NAME_SHOWN) {
		gmt_buffer_escape(text->out, name);
		return;
	}
	bytes = NAME_SHOWN;
	while (bytes > NAME_SHOWN - 4 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
		bytes--;
	memcpy(cut, name, bytes);
	cut[bytes] = '\0';
	gmt_buffer_escape(text->out, cut);
	gmt_buffer_format(text->out, "…");
}

static void put_module(const struct gmt_text *text, const struct gmt_report_frame *frame)
{
	const struct gmt_module *module = frame->module;
	uint32_t shown;

	if (!module) {
		gmt_buffer_format(text->out, "0x%" PRIx64 " (generated code)", frame->offset);
		return;
	}
	gmt_buffer_escape(text->out, gmt_names_basename(module->path));
	gmt_buffer_format(text->out, "+0x%" PRIx64, frame->offset);
	if (frame->function || module->build_id_bytes == 0)
		return;
	shown = module->build_id_bytes < BUILD_ID_SHOWN ? module->build_id_bytes : BUILD_ID_SHOWN;
	gmt_buffer_format(text->out, " (build-id ");
	for (uint32_t i = 0; i < shown; i++)
		gmt_buffer_format(text->out, "%02x", module->build_id[i]);
	gmt_buffer_format(text->out, "%s)", shown < module->build_id_bytes ? "…" : "");
}

void gmt_text_frame(const struct gmt_text *text, const struct gmt_report_frame *frame)
{
	if (frame->function) {
		gmt_text_name(text, frame->function);
		gmt_buffer_add(text->out, " ", 1);
	}
	if (frame->vendor && frame->function) {
		gmt_buffer_format(text->out, "in ");
		gmt_buffer_escape(text->out, gmt_names_basename(frame->module->path));
	} else if (frame->file) {
		gmt_buffer_escape(text->out, frame->file);
		if (frame->line)
			gmt_buffer_format(text->out, ":%u", frame->line);
	} else {
		put_module(text, frame);
	}
}

static uint32_t first_frame(const struct gmt_report_stack *stack)
{
	return stack->user < stack->nr_frames ? stack->user : 0;
}

/* Whether the frame would be written with the same words. */
static bool same_words(const struct gmt_report_frame *left, const struct gmt_report_frame *right)
{
	const char *left_name = left->function ? left->function : "";
	const char *right_name = right->function ? right->function : "";
	const char *left_file = left->file ? left->file : "";
	const char *right_file = right->file ? right->file : "";

	if (strcmp(left_name, right_name) != 0 || strcmp(left_file, right_file) != 0 ||
	    left->line != right->line)
		return false;
	return left->file || (left->module == right->module && left->offset == right->offset);
}

/* The next frame outwards that a reader can use: not of a library's headers. */
static uint32_t next_frame(const struct gmt_report_stack *stack, uint32_t at)
{
	do
		at++;
	while (at < stack->nr_frames && stack->frames[at].header);
	return at;
}

/* How many of those frames two stacks have in common, from the user's first on. */
static uint32_t common_frames(const struct gmt_report_stack *left,
			      const struct gmt_report_stack *right)
{
	uint32_t i = first_frame(left), j = first_frame(right), common = 0;

	while (i < left->nr_frames && j < right->nr_frames &&
	       same_words(&left->frames[i], &right->frames[j])) {
		i = next_frame(left, i);
		j = next_frame(right, j);
		common++;
	}
	return common;
}

void gmt_text_where(const struct gmt_text *text, const struct gmt_report_shares *shares,
		    uint32_t index)
{
	const struct gmt_report_stack *stack = shares->shares[index].stack;
	uint32_t at = first_frame(stack), common = 0;

	if (stack->nr_frames == 0) {
		gmt_buffer_format(text->out, "(no stack)");
		return;
	}
	/* Only those that are shown have to be told apart. */
	for (uint32_t i = 0; i < shares->nr_shares && i < GMT_TEXT_GROUPS; i++) {
		uint32_t same = i == index ? 0 : common_frames(stack, shares->shares[i].stack);

		common = same > common ? same : common;
	}
	if (common > CALLERS_SHOWN)
		common = CALLERS_SHOWN;
	gmt_text_frame(text, &stack->frames[at]);
	for (uint32_t i = 0; i < common; i++) {
		at = next_frame(stack, at);
		if (at >= stack->nr_frames)
			break;
		gmt_buffer_format(text->out, " < ");
		gmt_text_frame(text, &stack->frames[at]);
	}
}

void gmt_text_amount(const struct gmt_text *text, uint64_t bytes, uint64_t blocks)
{
	gmt_buffer_size(text->out, bytes);
	gmt_buffer_format(text->out, " in ");
	gmt_buffer_plural(text->out, blocks, "block", "blocks");
}

void gmt_text_more(const struct gmt_text *text, const char *indent, uint64_t shown, uint64_t all)
{
	if (all > shown)
		gmt_buffer_format(text->out, "%s… and %" PRIu64 " more (json=)\n", indent,
				  all - shown);
}

void gmt_text_percent(const struct gmt_text *text, uint64_t part, uint64_t whole)
{
	/* A part is never larger, but in a damaged trace. */
	unsigned int tenths =
		part < whole ? (unsigned int)((double)part * 1000 / (double)whole + 0.5) : 1000;

	gmt_buffer_format(text->out, "%3u.%u %%", tenths / 10, tenths % 10);
}
