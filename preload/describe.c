/*
 * Owns the facts about the process that a report needs beside its events: who it was, how it ended,
 * what was asked of us. Runs in the thread that ends the process, when the ledger is at rest.
 */
#define _GNU_SOURCE
#include "preload/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/apis.h"
#include "preload/clock.h"
#include "preload/config.h"
#include "preload/counters.h"
#include "preload/diag.h"
#include "preload/ledger.h"
#include "preload/lookup.h"
#include "preload/modules.h"
#include "preload/record.h"

/* As main gets them: the program may change the words, but not take them away. */
static struct {
	int count;
	char **values;
} arguments;

void gmt_describe_arguments(int argc, char **argv)
{
	arguments.count = argc;
	arguments.values = argv;
}

const char *gmt_describe_program(void)
{
	return program_invocation_short_name ? program_invocation_short_name : "";
}

static const char *rank_of(void)
{
	static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
						 "RANK" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return value;
	}
	return "";
}

static const char *expand(struct gmt_ledger *ledger, const char *path)
{
	struct gmt_expand facts = {
		.program = gmt_describe_program(),
		.host = ledger->host ? ledger->host : "",
		.rank = rank_of(),
		.pid = getpid(),
		.start_unix_s = gmt_start_unix_ns() / 1000000000u,
		.sequence = 0,
	};
	char out[4096];

	if (!*path)
		return NULL;
	if (!gmt_config_expand(path, &facts, out, sizeof(out))) {
		gmt_diag("path too long: ", path, NULL);
		return NULL;
	}
	return gmt_ledger_string(ledger, out);
}

static void describe_process(struct gmt_ledger *ledger, enum gmt_ended ended, int status,
			     bool forked)
{
	const char *rank = rank_of();
	char text[4096];
	ssize_t got;

	ledger->process = (struct gmt_process){
		.start_unix_ns = gmt_start_unix_ns(),
		.end_ns = gmt_now_ns(),
		.pid = getpid(),
		.ppid = getppid(),
		.status = status,
		.rank = *rank >= '0' && *rank <= '9' ? atoi(rank) : -1,
		.ended = ended,
		.cuda_used = gmt_record_has_used_cuda(),
		.forked = forked,
	};
	got = readlink("/proc/self/exe", text, sizeof(text) - 1);
	if (got > 0) {
		text[got] = '\0';
		ledger->exe = gmt_ledger_string(ledger, text);
	}
	if (gethostname(text, sizeof(text) - 1) == 0) {
		text[sizeof(text) - 1] = '\0';
		ledger->host = gmt_ledger_string(ledger, text);
	}
	ledger->version = GMT_VERSION;
}

static void describe_settings(struct gmt_ledger *ledger)
{
	const struct gmt_options *options = gmt_config();

	ledger->settings = (struct gmt_settings){
		.max_peak = options->max_peak,
		.min_leak_bytes = options->min_leak_bytes,
		.min_leak_blocks = options->min_leak_blocks,
		.fail_on = options->fail_on,
		.exitcode = (uint32_t)options->exitcode,
		.require_cuda = options->require_cuda || options->fail_on & GMT_GATE_NOCUDA,
		.kernels = options->kernels,
		.stacks = options->stacks,
		.stack_depth = (uint32_t)options->stack_depth,
	};
	ledger->report_path = expand(ledger, options->report);
	ledger->json_path = expand(ledger, options->json);
}

static void describe_apis(struct gmt_ledger *ledger)
{
	static const struct gmt_api_names names[] = {
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, pool) { #symbol, runtime },
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)    { #symbol, runtime },
#define GMT_CUSTOM(symbol, runtime, file)				     { #symbol, runtime },
#define GMT_USED(symbol)
#include "preload/driver_apis.def"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ledger->apis[i] = names[i];
	for (unsigned int i = 0; i < GMT_NR_COUNTERS; i++) {
		ledger->counters[i].name = gmt_counter_name(i);
		ledger->counters[i].text = gmt_counter_text(i);
		ledger->counters[i].value = gmt_counter_value(i);
	}
}

static bool listed(const struct gmt_ledger *ledger, const char *name)
{
	for (uint32_t i = 0; i < ledger->nr_passed_through; i++)
		if (strcmp(ledger->passed_through[i], name) == 0)
			return true;
	return false;
}

static void describe_lookups(struct gmt_ledger *ledger)
{
	uint32_t room = 0;
	uintptr_t runtime;
	const char *name;

	for (unsigned int i = 0; (name = gmt_lookup_passed(i)); i++)
		if (!listed(ledger, name))
			gmt_ledger_push_name(ledger, &ledger->passed_through,
					     &ledger->nr_passed_through, &room, name);
	for (unsigned int i = 0; (runtime = gmt_lookup_runtime(i)); i++) {
		uint64_t offset = 0;
		uint32_t id = gmt_modules_id(runtime, &offset);
		struct gmt_module *module =
			id && id <= ledger->nr_modules ? ledger->modules[id - 1] : NULL;

		if (module && (!module->runtime_lo || offset < module->runtime_lo))
			module->runtime_lo = offset;
	}
}

static void describe_arguments(struct gmt_ledger *ledger)
{
	uint32_t room = 0;

	for (int i = 0; i < arguments.count; i++)
		gmt_ledger_push_name(ledger, &ledger->argv, &ledger->argc, &room,
				     arguments.values[i]);
}

void gmt_describe(struct gmt_ledger *ledger, enum gmt_ended ended, int status, bool forked)
{
	describe_process(ledger, ended, status, forked);
	describe_settings(ledger);
	describe_apis(ledger);
	describe_lookups(ledger);
	describe_arguments(ledger);
}
