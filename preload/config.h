/*
 * Options, read once from GMTRACE_OPTIONS before the first event, constant from then on.
 * Warnings about them are kept and printed when the process first uses CUDA: a process without
 * CUDA prints nothing.
 */
#ifndef GMT_PRELOAD_CONFIG_H
#define GMT_PRELOAD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/event.h"

#define GMT_TYPE_flag  bool
#define GMT_TYPE_count uint64_t
#define GMT_TYPE_size  uint64_t
#define GMT_TYPE_text  const char *
#define GMT_TYPE_gates uint32_t
#define GMT_TYPE_grade uint32_t

struct gmt_options {
#define GMT_OPTION(type, name, value, help) GMT_TYPE_##type name;
#include "preload/options.def"
#undef GMT_OPTION
};

/* Parses text (NULL: defaults) and keeps the result; the first call wins. Any thread. */
void gmt_config_load(const char *text);

const struct gmt_options *gmt_config(void);

/* Whether the option was given, as opposed to its default. */
bool gmt_config_given(const char *name);

/* Prints what was wrong with the options, once. */
void gmt_config_warn(void);

/* help=1: every key with its default, on stderr. */
void gmt_config_help(void);

struct gmt_expand {
	const char *program, *host, *rank;
	int pid;
	uint64_t start_unix_s;
	unsigned int sequence;
};

/* Expands %p %h %e %r %t %n %q{VAR} %% of a path. False: the result does not fit. */
bool gmt_config_expand(const char *path, const struct gmt_expand *facts, char *out, size_t room);

#endif
