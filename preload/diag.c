/* Owns nothing. Any thread. */
#include "preload/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

static size_t append(char *line, size_t used, size_t room, const char *text)
{
	/* What the user wrote may hold escape sequences; a terminal must not obey them. */
	for (; *text && used < room; text++)
		line[used++] = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
	return used;
}

void gmt_diag(const char *part, ...)
{
	char line[1024];
	size_t used = append(line, 0, sizeof(line) - 1, "gmtrace: ");
	int saved = errno;
	va_list parts;

	va_start(parts, part);
	for (; part; part = va_arg(parts, const char *))
		used = append(line, used, sizeof(line) - 1, part);
	va_end(parts);
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0) {
		/* Nobody is left to tell. */
	}
	errno = saved;
}
