/* Owns nothing. Any thread. */
#define _GNU_SOURCE
#include "preload/diag.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static size_t append(char *line, size_t used, size_t room, const char *text)
{
	/* What the user wrote may hold escape sequences; a terminal must not obey them. */
	for (; *text && used < room; text++)
		line[used++] = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
	return used;
}

/* The reader of standard error may be gone: the program must not get a SIGPIPE for our words. */
static void say(const char *line, size_t bytes)
{
	struct timespec at_once = { 0, 0 };
	sigset_t pipe_only, pending, old;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &old);
	if (write(STDERR_FILENO, line, bytes) < 0 && errno == EPIPE &&
	    !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
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
	say(line, used);
	errno = saved;
}
