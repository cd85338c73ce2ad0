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
#include "preload/describe.h"
#include "preload/diag.h"
#include "preload/ledger.h"
#include "preload/lookup.h"
#include "preload/modules.h"
#include "preload/record.h"
#include "preload/spawn.h"
#include "preload/stack.h"
#include "report/report.h"

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

bool gmt_init_traced(void)
{
	int traced = atomic_load_explicit(&init.traced, memory_order_relaxed);

	if (traced == 0) {
		gmt_config_load(getenv("GMTRACE_OPTIONS"));
		gmt_lookup_keep_deepbind(gmt_config()->deepbind);
		traced = fnmatch(gmt_config()->program, gmt_describe_program(), 0) == 0 ? 1 : 2;
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
	gmt_describe(ledger, ended, status, init.forked);
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
	gmt_describe_arguments(argc, argv);
	if (!gmt_init_traced())
		return;
	if (gmt_config()->help) {
		gmt_config_help();
		_exit(0); /* ours: nothing was used yet, so it goes straight on */
	}
	register_end();
}
