/* Where finished text goes: a file that did not exist before, or standard error. */
#ifndef GMT_REPORT_OUTPUT_H
#define GMT_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes all of it, however slow the other side is; SIGPIPE is never raised. False: errno says why.
 */
bool gmt_output_write(int fd, const char *text, size_t bytes);

/*
 * Writes a new file, with its missing directories. A file that exists is left alone: `.PID` is
 * appended to the path, then `.PID.1` and so on. Links are not followed. The path that was taken
 * is put in taken[room]. False: errno says why, and no part of the file is left.
 */
bool gmt_output_file(const char *path, int pid, const char *text, size_t bytes, char *taken,
		     size_t room);

#endif
