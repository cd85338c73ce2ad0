/*
 * Owns the options. Read in the constructor or by the first hook, whichever comes first; must not
 * allocate or print (a process without CUDA stays silent).
 */
#define _GNU_SOURCE
#include "preload/config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "preload/diag.h"

#define TEXT_MAX     8192
#define WARNINGS_MAX 8

static struct {
	struct gmt_options options;
	char text[TEXT_MAX]; /* the values of text options lie in here */
	uint64_t given;	     /* a bit per row */
	struct {
		const char *what, *which;
	} warnings[WARNINGS_MAX];
	unsigned int nr_warnings;
	atomic_int loaded; /* 0: no, 1: being loaded, 2: yes */
} config = {
	.options = {
#define GMT_OPTION(type, name, value, help) .name = value,
#include "preload/options.def"
#undef GMT_OPTION
	},
};

enum option_index {
#define GMT_OPTION(type, name, value, help) OPTION_##name,
#include "preload/options.def"
#undef GMT_OPTION
	NR_OPTIONS
};

static void warn(const char *what, const char *which)
{
	if (config.nr_warnings == WARNINGS_MAX)
		return;
	config.warnings[config.nr_warnings].what = what;
	config.warnings[config.nr_warnings++].which = which;
}

static bool parse_number(const char *value, bool suffixes, uint64_t *out)
{
	uint64_t number = 0, digit;
	unsigned int shift = 0;

	if (*value < '0' || *value > '9')
		return false;
	for (; *value >= '0' && *value <= '9'; value++) {
		digit = (uint64_t)(*value - '0');
		if (number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	if (suffixes && *value) {
		const char *units = "KMGT", *unit = strchr(units, *value & ~0x20);

		if (!unit)
			return false;
		shift = 10 * (unsigned int)(unit - units + 1);
		value++;
		if (*value == 'i')
			value++;
		if (*value == 'B' || *value == 'b')
			value++;
	}
	if (*value || (shift && number >> (64 - shift)))
		return false;
	*out = number << shift;
	return true;
}

static bool parse_flag(const char *value, bool *out)
{
	if (strcmp(value, "1") != 0 && strcmp(value, "0") != 0)
		return false;
	*out = *value == '1';
	return true;
}

static bool parse_count(const char *value, uint64_t *out)
{
	return parse_number(value, false, out);
}

static bool parse_size(const char *value, uint64_t *out)
{
	return parse_number(value, true, out);
}

static bool parse_text(const char *value, const char **out)
{
	*out = value;
	return true;
}

static bool parse_gates(char *value, uint32_t *out)
{
	static const char *const names[] = { GMT_GATE_NAMES };
	uint32_t gates = 0;

	for (char *rest = value, *name; (name = strsep(&rest, ","));) {
		size_t i = 0;

		if (strcmp(name, "none") == 0)
			continue;
		if (strcmp(name, "all") == 0) {
			/* All that this version can judge: "all" names no gate in particular. */
			gates |= GMT_GATES_JUDGED;
			continue;
		}
		while (i < sizeof(names) / sizeof(names[0]) && strcmp(names[i], name) != 0)
			i++;
		if (i == sizeof(names) / sizeof(names[0]))
			return false;
		gates |= 1u << i;
	}
	*out = gates;
	return true;
}

static bool parse_grade(const char *value, uint32_t *out)
{
	static const char *const names[] = { "off", "args", "cupti" };

	for (uint32_t i = 0; i < 3; i++) {
		if (strcmp(names[i], value) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

static bool set_option(const char *key, char *value)
{
#define GMT_OPTION(type, name, default_value, help)                                                \
	if (strcmp(key, #name) == 0) {                                                             \
		if (parse_##type(value, &config.options.name))                                     \
			config.given |= UINT64_C(1) << OPTION_##name;                              \
		else                                                                               \
			warn("bad value for option ", key);                                        \
		return true;                                                                       \
	}
#include "preload/options.def"
#undef GMT_OPTION
	return false;
}

/* Ends the value that begins at text and returns what follows it, or NULL at the end. */
static char *end_value(char *text)
{
	char *out = text, quote = '\0';

	for (; *text; text++) {
		if (quote ? *text == quote : *text == '"' || *text == '\'') {
			quote = quote ? '\0' : *text;
			continue;
		}
		if (*text == ':' && !quote) {
			*out = '\0';
			return text + 1;
		}
		*out++ = *text;
	}
	*out = '\0';
	return NULL;
}

static void clamp(void)
{
	struct gmt_options *options = &config.options;

	if (options->stack_depth < 1 || options->stack_depth > GMT_MAX_DEPTH) {
		warn("bad value for option ", "stack_depth");
		options->stack_depth = 64;
	}
	if (options->exitcode < 1 || options->exitcode > 255) {
		warn("bad value for option ", "exitcode");
		options->exitcode = 23;
	}
}

static void parse(const char *text)
{
	size_t bytes = strnlen(text, TEXT_MAX);
	char *entry = config.text;

	if (bytes == TEXT_MAX) {
		warn("GMTRACE_OPTIONS is too long and was ignored", "");
		return;
	}
	memcpy(config.text, text, bytes + 1);
	while (entry && *entry) {
		char *value = entry + strcspn(entry, "=:");
		char *next;

		if (*value != '=') {
			next = *value ? value + 1 : NULL;
			*value = '\0';
			if (*entry)
				warn("option without a value: ", entry);
			entry = next;
			continue;
		}
		*value++ = '\0';
		next = end_value(value);
		if (!set_option(entry, value))
			warn("unknown option ", entry);
		entry = next;
	}
	clamp();
}

void gmt_config_load(const char *text)
{
	int expected = 0;

	if (!atomic_compare_exchange_strong(&config.loaded, &expected, 1)) {
		/* Another thread is at it: a few microseconds, nothing is locked in there. */
		while (atomic_load(&config.loaded) != 2)
			;
		return;
	}
	if (text)
		parse(text);
	atomic_store(&config.loaded, 2);
}

const struct gmt_options *gmt_config(void)
{
	return &config.options;
}

bool gmt_config_given(const char *name)
{
	static const char *const names[] = {
#define GMT_OPTION(type, key, value, help) #key,
#include "preload/options.def"
#undef GMT_OPTION
	};

	for (int i = 0; i < NR_OPTIONS; i++)
		if (strcmp(names[i], name) == 0)
			return config.given >> i & 1;
	return false;
}

void gmt_config_warn(void)
{
	for (unsigned int i = 0; i < config.nr_warnings; i++)
		gmt_diag(config.warnings[i].what, config.warnings[i].which,
			 " (help=1 lists the options)", NULL);
	config.nr_warnings = 0;
}

void gmt_config_help(void)
{
	const struct {
		const char *name, *value, *help;
	} rows[] = {
#define SHOW_flag(value)		    #value
#define SHOW_count(value)		    #value
#define SHOW_size(value)		    (value) == UINT64_MAX ? "off" : #value
#define SHOW_text(value)		    *(const char *)(value) ? value : "off"
#define SHOW_gates(value)		    "none"
#define SHOW_grade(value)		    "args"
#define GMT_OPTION(type, name, value, help) { #name, SHOW_##type(value), help },
#include "preload/options.def"
#undef GMT_OPTION
	};

	gmt_diag("GMTRACE_OPTIONS=key=value:key=value; keys (default): meaning", NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		gmt_diag(rows[i].name, " (", rows[i].value, "): ", rows[i].help, NULL);
}

static bool put(char *out, size_t room, size_t *used, const char *text)
{
	size_t bytes = strlen(text);

	if (bytes >= room - *used)
		return false;
	memcpy(out + *used, text, bytes + 1);
	*used += bytes;
	return true;
}

static const char *decimal(uint64_t number, char buffer[24])
{
	char *at = buffer + 23;

	*at = '\0';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return at;
}

/* %q{VAR}: the variable's value, or nothing. Returns the last character that was used. */
static const char *expand_variable(const char *at, char *out, size_t room, size_t *used, bool *fits)
{
	const char *close = at[1] == '{' ? strchr(at, '}') : NULL;
	char name[128];

	if (!close || (size_t)(close - at - 2) >= sizeof(name)) {
		*fits = *fits && put(out, room, used, "%q");
		return at;
	}
	memcpy(name, at + 2, (size_t)(close - at - 2));
	name[close - at - 2] = '\0';
	at = secure_getenv(name);
	*fits = *fits && put(out, room, used, at ? at : "");
	return close;
}

bool gmt_config_expand(const char *path, const struct gmt_expand *facts, char *out, size_t room)
{
	size_t used = 0;
	bool fits = true;
	char number[24], plain[3] = "%";

	*out = '\0';
	for (; *path && fits; path++) {
		if (*path != '%' || !path[1]) {
			plain[0] = *path;
			plain[1] = '\0';
			fits = put(out, room, &used, plain);
			continue;
		}
		switch (*++path) {
		case 'p':
			fits = put(out, room, &used, decimal((uint64_t)facts->pid, number));
			break;
		case 'h':
			fits = put(out, room, &used, facts->host);
			break;
		case 'e':
			fits = put(out, room, &used, facts->program);
			break;
		case 'r':
			fits = put(out, room, &used, facts->rank);
			break;
		case 't':
			fits = put(out, room, &used, decimal(facts->start_unix_s, number));
			break;
		case 'n':
			fits = put(out, room, &used, decimal(facts->sequence, number));
			break;
		case 'q':
			path = expand_variable(path, out, room, &used, &fits);
			break;
		case '%':
			fits = put(out, room, &used, "%");
			break;
		default:
			plain[0] = '%';
			plain[1] = *path;
			plain[2] = '\0';
			fits = put(out, room, &used, plain);
		}
	}
	return fits;
}
