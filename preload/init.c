/*
 * Owns start, end and fork. The constructor does next to nothing: a process without CUDA must not
 * notice us.
 */
#define _GNU_SOURCE
#include "preload/init.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti/cupti.h"
#include "preload/apis.h"
#include "preload/clock.h"
#include "preload/config.h"
#include "preload/context.h"
#include "preload/counters.h"
#include "preload/diag.h"
#include "preload/ledger.h"
#include "preload/lookup.h"
#include "preload/modules.h"
#include "preload/record.h"
#include "preload/spawn.h"
#include "preload/stack.h"
#include "report/report.h"

#define VERSION		"0.1.0"
#define ACTIVATION_WAIT 100 /* milliseconds a second thread waits for the first */

enum { ACTIVATION_NONE, ACTIVATION_BUSY, ACTIVATION_DONE };

/* Milliseconds that a thread waits for the report of another; a little over spawn.c's limit. */
#define REPORT_WAIT 65000
/*
 * glibc 2.36 crashes when threads exit at once and its list of handlers, which has room for 32, had
 * to grow: leave most of it to the program.
 */
#define EXITING_THREADS 8

enum {
	REPORT_NONE,
	REPORT_STARTED,
	REPORT_BUSY, /* reporter is set */
	REPORT_DONE
};

static struct {
	atomic_int traced; /* 0: not known yet, 1: yes, 2: no */
	atomic_int activation;
	bool forked;	   /* a child without exec keeps its own status */
	atomic_int report; /* REPORT_* */
	pthread_t reporter;
	atomic_int owner;     /* the process whose memory this is; 0: not traced */
	char directory[4096]; /* of libgmtrace.so */
} init;

/* __cxa_atexit: atexit() of a shared object would bind the handler to its unloading. */
int __cxa_atexit(void (*handler)(void *), void *data, void *dso);

static const char *program_name(void)
{
	return program_invocation_short_name ? program_invocation_short_name : "";
}

bool gmt_init_traced(void)
{
	int traced = atomic_load_explicit(&init.traced, memory_order_relaxed);

	if (traced == 0) {
		gmt_config_load(getenv("GMTRACE_OPTIONS"));
		gmt_lookup_keep_deepbind(gmt_config()->deepbind);
		traced = fnmatch(gmt_config()->program, program_name(), 0) == 0 ? 1 : 2;
		atomic_store(&init.traced, traced);
	}
	return traced == 1;
}

static void find_directory(void)
{
	const char *path = gmt_modules_path((uintptr_t)&find_directory);
	size_t bytes = strlen(path);

	if (bytes >= sizeof(init.directory))
		return;
	memcpy(init.directory, path, bytes + 1);
	while (bytes && init.directory[bytes] != '/')
		bytes--;
	init.directory[bytes] = '\0';
}

/*
 * The last moment at which the driver is alive: registered after cuInit, it runs before the
 * handlers that the driver and the runtime registered earlier.
 */
static void last_moment(void *data)
{
	(void)data;
	if (init.forked && !gmt_record_has_used_cuda())
		return;
	gmt_cupti_flush();
	gmt_context_sample();
}

static void register_end(void);

static void activate(void)
{
	/* A library may use CUDA, and exit, before our constructor has run. */
	register_end();
	gmt_config_warn();
	gmt_clock_start();
	find_directory();
	if (gmt_config()->stacks)
		gmt_stack_start(init.directory,
				(unsigned int)gmt_config()->stack_depth + GMT_RUNTIME_FRAMES);
	gmt_context_note_devices();
	__cxa_atexit(last_moment, NULL, NULL);
	if (gmt_config()->kernels == GMT_KERNELS_CUPTI)
		gmt_cupti_start();
}

void gmt_init_activate(void)
{
	int expected = ACTIVATION_NONE;

	if (atomic_load_explicit(&init.activation, memory_order_acquire) == ACTIVATION_DONE)
		return;
	if (atomic_compare_exchange_strong(&init.activation, &expected, ACTIVATION_BUSY)) {
		activate();
		atomic_store_explicit(&init.activation, ACTIVATION_DONE, memory_order_release);
		return;
	}
	for (int waited = 0;
	     waited < ACTIVATION_WAIT && atomic_load(&init.activation) == ACTIVATION_BUSY;
	     waited++) {
		struct timespec millisecond = { 0, 1000000 };

		nanosleep(&millisecond, NULL);
	}
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
		.program = program_name(),
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

static void describe_process(struct gmt_ledger *ledger, enum gmt_ended ended, int status)
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
		.forked = init.forked,
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
	ledger->version = VERSION;
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
#define GMT_FREE(symbol, runtime, params, args, address)		     { #symbol, runtime },
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

static void describe_arguments(struct gmt_ledger *ledger, int argc, char **argv)
{
	uint32_t room = 0;

	for (int i = 0; i < argc; i++)
		gmt_ledger_push_name(ledger, &ledger->argv, &ledger->argc, &room, argv[i]);
}

static int saved_argc;
static char **saved_argv;

/* Writes the report. The verdict's exit code, 0 if there is none. */
static int report(enum gmt_ended ended, int status)
{
	struct gmt_ledger *ledger;
	struct gmt_outcome outcome = { .exit_code = 0 };

	/* Modules of the runtimes are looked up while facts can still be recorded. */
	for (unsigned int i = 0; gmt_lookup_runtime(i); i++)
		gmt_modules_path(gmt_lookup_runtime(i));
	ledger = gmt_record_finish();
	if (!ledger) {
		gmt_diag("no report: out of memory, or a killed thread holds the ledger", NULL);
		return 0;
	}
	describe_process(ledger, ended, status);
	describe_settings(ledger);
	describe_apis(ledger);
	describe_lookups(ledger);
	describe_arguments(ledger, saved_argc, saved_argv);
	switch (gmt_spawn_report(ledger, init.directory, &outcome)) {
	case GMT_SPAWN_DONE:
		return outcome.exit_code;
	case GMT_SPAWN_WROTE:
		gmt_diag("the report may be incomplete: gmtrace ended while writing it", NULL);
		return outcome.exit_code;
	case GMT_SPAWN_FAILED:
		gmt_diag(
			"no function names: the program gmtrace is not beside libgmtrace.so, or it "
			"failed",
			NULL);
		gmt_ledger_note(ledger, "no function names: the program gmtrace did not answer");
		break;
	}
	gmt_report_finish(ledger, NULL, NULL, NULL, &outcome);
	return outcome.exit_code;
}

/* A signal handler of the reporting thread itself does not wait. */
static void wait_for_report(void)
{
	for (int waited = 0; waited < REPORT_WAIT; waited++) {
		struct timespec millisecond = { 0, 1000000 };
		int state = atomic_load(&init.report);

		if (state == REPORT_DONE ||
		    (state == REPORT_BUSY && pthread_equal(init.reporter, pthread_self())))
			return;
		nanosleep(&millisecond, NULL);
	}
}

int gmt_init_end(enum gmt_ended ended, int status)
{
	bool judged_without_cuda =
		gmt_config_given("program") &&
		(gmt_config()->require_cuda || gmt_config()->fail_on & GMT_GATE_NOCUDA);
	int code, expected = REPORT_NONE;

	if (!atomic_load(&init.owner) || getpid() != atomic_load(&init.owner))
		return status;
	if (!gmt_record_has_used_cuda() && (!judged_without_cuda || init.forked))
		return status;
	/* Of threads that end the process at once, one reports and the others wait for it. */
	if (!atomic_compare_exchange_strong(&init.report, &expected, REPORT_STARTED)) {
		wait_for_report();
		return status;
	}
	init.reporter = pthread_self();
	atomic_store(&init.report, REPORT_BUSY);
	if (!init.directory[0])
		find_directory();
	code = report(ended, status);
	atomic_store(&init.report, REPORT_DONE);
	return code && status == 0 && !init.forked ? code : status;
}

/*
 * The final handler: registered in the constructor, so that it runs after every destructor. Makes
 * no call to the driver.
 */
static void at_exit(int status, void *data)
{
	int code = gmt_init_end(GMT_ENDED_EXIT, status);

	(void)data;
	atomic_store(&init.report, REPORT_DONE);
	/* Tried: exit from inside an exit handler keeps buffered output and gives this status. */
	if (code != status)
		exit(code);
}

/*
 * What a thread that exits meanwhile finds instead of the end: glibc lets each thread go through
 * the handlers that are left, and the first that finds none ends the process. at_exit has been
 * taken before any of these is, and in the end says that it is done.
 */
static void stay(int status, void *data)
{
	(void)status;
	(void)data;
	if (atomic_load(&init.owner) == getpid())
		wait_for_report();
}

static void forked(void)
{
	init.forked = true;
	/* Forked while the parent was exiting, there is no at_exit left to take. */
	if (atomic_load(&init.report) != REPORT_NONE)
		atomic_store(&init.report, REPORT_DONE);
	atomic_store(&init.owner, getpid());
	atomic_store(&init.activation, ACTIVATION_NONE);
	gmt_clock_forked();
	gmt_counters_reset();
	gmt_stack_forked();
	gmt_modules_forked();
	gmt_record_forked();
	gmt_cupti_forked();
}

static void register_end(void)
{
	static atomic_bool registered;

	if (atomic_exchange(&registered, true))
		return;
	gmt_now_ns();
	atomic_store(&init.owner, getpid());
	pthread_atfork(NULL, NULL, forked);
	/* Run last: each thread that comes while another reports takes one of them. */
	for (int i = 0; i < EXITING_THREADS; i++)
		on_exit(stay, NULL);
	on_exit(at_exit, NULL);
	gmt_endings_start();
}

__attribute__((constructor)) static void start(int argc, char **argv)
{
	saved_argc = argc;
	saved_argv = argv;
	if (!gmt_init_traced())
		return;
	if (gmt_config()->help) {
		gmt_config_help();
		_exit(0); /* ours: nothing was used yet, so it goes straight on */
	}
	register_end();
}
