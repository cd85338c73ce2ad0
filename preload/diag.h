/* One-line messages on stderr, by write(2): no stdio, no allocation, errno kept. */
#ifndef GMT_PRELOAD_DIAG_H
#define GMT_PRELOAD_DIAG_H

/* Writes "gmtrace: " and the parts up to NULL, control characters replaced, and a newline. */
void gmt_diag(const char *part, ...) __attribute__((sentinel));

#endif
