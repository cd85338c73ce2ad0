/* Owns how text, sizes and foreign strings are written. */
#include "report/buffer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gmt_buffer_free(struct gmt_buffer *buffer)
{
	free(buffer->text);
	memset(buffer, 0, sizeof(*buffer));
}

bool gmt_buffer_reserve(struct gmt_buffer *buffer, size_t bytes)
{
	size_t room = buffer->room ? buffer->room : 4096;
	char *moved;

	if (buffer->failed || bytes > SIZE_MAX / 4 - buffer->bytes) {
		buffer->failed = true;
		return false;
	}
	if (buffer->room - buffer->bytes >= bytes)
		return true;
	while (room - buffer->bytes < bytes)
		room *= 2;
	moved = realloc(buffer->text, room);
	if (!moved) {
		buffer->failed = true;
		return false;
	}
	buffer->text = moved;
	buffer->room = room;
	return true;
}

void gmt_buffer_add(struct gmt_buffer *buffer, const char *text, size_t bytes)
{
	if (bytes == 0 || !gmt_buffer_reserve(buffer, bytes))
		return;
	memcpy(buffer->text + buffer->bytes, text, bytes);
	buffer->bytes += bytes;
}

void gmt_buffer_format(struct gmt_buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int bytes;

	if (!gmt_buffer_reserve(buffer, 256))
		return;
	va_start(arguments, format);
	bytes = vsnprintf(buffer->text + buffer->bytes, buffer->room - buffer->bytes, format,
			  arguments);
	va_end(arguments);
	if (bytes < 0) {
		buffer->failed = true;
		return;
	}
	if ((size_t)bytes >= buffer->room - buffer->bytes) {
		if (!gmt_buffer_reserve(buffer, (size_t)bytes + 1))
			return;
		va_start(arguments, format);
		vsnprintf(buffer->text + buffer->bytes, (size_t)bytes + 1, format, arguments);
		va_end(arguments);
	}
	buffer->bytes += (size_t)bytes;
}

size_t gmt_utf8_next(const char *text, uint32_t *point)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t bytes;

	*point = at[0];
	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	bytes = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	*point = at[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (at[i] & 0x3fu);
	}
	if (*point < lowest[bytes] || *point > 0x10ffff || (*point >= 0xd800 && *point <= 0xdfff))
		return 0;
	return bytes;
}

/* Characters that change how others look: C1 controls, line separators, direction marks. */
static bool treacherous(uint32_t point)
{
	return (point >= 0x80 && point < 0xa0) || (point >= 0x200b && point <= 0x200f) ||
	       (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) ||
	       point == 0xfeff || point == 0x61c;
}

void gmt_buffer_escape(struct gmt_buffer *buffer, const char *text)
{
	if (!text)
		text = "?";
	while (*text) {
		uint32_t point;
		size_t bytes = gmt_utf8_next(text, &point);

		if (bytes == 0) {
			gmt_buffer_format(buffer, "\\x%02x", (unsigned char)*text++);
			continue;
		}
		if (*text == '\n')
			gmt_buffer_add(buffer, "\\n", 2);
		else if (*text == '\t')
			gmt_buffer_add(buffer, "\\t", 2);
		else if (point < 0x20 || point == 0x7f)
			gmt_buffer_format(buffer, "\\x%02x", point);
		else if (treacherous(point))
			gmt_buffer_format(buffer, "\\u{%x}", point);
		else
			gmt_buffer_add(buffer, text, bytes);
		text += bytes;
	}
}

void gmt_buffer_size(struct gmt_buffer *buffer, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int unit = 0;
	uint64_t tenths;

	if (bytes < 1024) {
		gmt_buffer_plural(buffer, bytes, "byte", "bytes");
		return;
	}
	/* In whole numbers: the decimal point of %f would follow the program's locale. */
	while (unit < 5 && bytes >> 10 >= 1024) {
		bytes >>= 10;
		unit++;
	}
	tenths = (bytes >> 10) * 10 + ((bytes & 1023) * 10 + 512) / 1024;
	if (tenths == 10240 && unit < 5) {
		tenths = 10;
		unit++;
	}
	gmt_buffer_format(buffer, "%" PRIu64 ".%u %s", tenths / 10, (unsigned int)(tenths % 10),
			  units[unit]);
}

void gmt_buffer_count(struct gmt_buffer *buffer, uint64_t number)
{
	char digits[24];
	int count = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			gmt_buffer_add(buffer, ",", 1);
		gmt_buffer_add(buffer, &digits[i], 1);
	}
}

void gmt_buffer_plural(struct gmt_buffer *buffer, uint64_t number, const char *one,
		       const char *many)
{
	gmt_buffer_count(buffer, number);
	gmt_buffer_format(buffer, " %s", number == 1 ? one : many);
}

void gmt_buffer_time(struct gmt_buffer *buffer, uint64_t ns)
{
	gmt_buffer_format(buffer, "%" PRIu64 ".%03u s", ns / 1000000000u,
			  (unsigned int)(ns / 1000000u % 1000u));
}
