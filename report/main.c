/*
 * The program gmtrace. Owns its arguments; all the work is done elsewhere.
 *
 * "exit-report" is how libgmtrace.so starts it at a process's end: it must end soon, whatever is
 * in the files it reads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/arena.h"
#include "report/read_trace.h"
#include "report/report.h"
#include "report/symbolize.h"

#define EXIT_USAGE 2
#define EXIT_WORK  1 /* it could not be done */

/* Less than libgmtrace.so waits for the answer. */
#define LIMIT_SECONDS 50
#define LIMIT_BYTES   ((rlim_t)32 << 30)

static const char usage[] =
	"gmtrace " GMT_VERSION ": what is leaked, fragmented and used on the GPU\n"
	"\n"
	"  LD_PRELOAD=/path/libgmtrace.so ./app    report on stderr when app ends\n"
	"  gmtrace report [--text FILE] [--json FILE] TRACE\n"
	"                                          report on a trace file; text on stdout\n"
	"  gmtrace --version, gmtrace --help\n"
	"\n"
	"Options of the traced program: GMTRACE_OPTIONS=key=value:key=value; help=1 lists the "
	"keys.\n"
	"Exit status of report: 0, the trace's exitcode if a gate failed, 24 if a gate could not\n"
	"judge, 1 if there was trouble, 2 for a mistaken command.\n";

static int complain(const char *what, const char *about)
{
	fprintf(stderr, "gmtrace: %s%s%s\n", what, about ? ": " : "", about ? about : "");
	return EXIT_WORK;
}

static int mistaken(const char *what, const char *about)
{
	complain(what, about);
	fputs("Try 'gmtrace --help'.\n", stderr);
	return EXIT_USAGE;
}

/* No core file of ours, no network for names, an end in sight. */
static void limit_ourselves(bool in_a_hurry)
{
	const struct rlimit no_core = { 0, 0 };
	struct rlimit memory;

	setrlimit(RLIMIT_CORE, &no_core);
	unsetenv("DEBUGINFOD_URLS");
	signal(SIGPIPE, SIG_IGN);
	if (!in_a_hurry)
		return;
	if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur > LIMIT_BYTES) {
		memory.rlim_cur = LIMIT_BYTES;
		setrlimit(RLIMIT_AS, &memory);
	}
	alarm(LIMIT_SECONDS);
}

struct answer {
	int fd;
	struct gmt_outcome *outcome;
};

static void send_step(void *data)
{
	struct answer *answer = data;
	ssize_t sent;

	do
		sent = send(answer->fd, answer->outcome, sizeof(*answer->outcome), MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
}

/* A number of a descriptor. -1: it is none. */
static int descriptor(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number < 1 << 20 ? (int)number : -1;
}

static int exit_report(const char *trace_text, const char *result_text)
{
	struct gmt_outcome outcome = { .magic = GMT_OUTCOME_MAGIC, .step = GMT_OUTCOME_WRITING };
	int trace = descriptor(trace_text);
	struct answer answer = { descriptor(result_text), &outcome };
	struct gmt_arena *arena = gmt_arena_new();
	struct gmt_symbolizer *symbolizer;
	struct gmt_ledger *ledger;
	char error[256] = "";

	if (trace < 0 || answer.fd < 0)
		return mistaken("exit-report needs two descriptors", NULL);
	limit_ourselves(true);
	if (!arena)
		return complain("out of memory", NULL);
	ledger = gmt_trace_read(trace, arena, error, sizeof(error));
	if (!ledger)
		return complain("cannot read the trace of the process", error);
	symbolizer = gmt_symbolizer_new(ledger->process.pid);
	if (!gmt_report_finish(ledger, symbolizer, send_step, &answer, &outcome))
		return EXIT_WORK;
	outcome.step = GMT_OUTCOME_DONE;
	send_step(&answer);
	/* All memory goes with the process; giving it back in pieces would only take time. */
	return 0;
}

struct request {
	const char *trace, *text, *json;
};

/* False: the mistake was said on standard error. */
static bool parse_request(int argc, char **argv, struct request *request)
{
	const char *mistake = NULL, *about = NULL;

	for (int i = 0; i < argc && !mistake; i++) {
		const char **into = strcmp(argv[i], "--json") == 0   ? &request->json
				    : strcmp(argv[i], "--text") == 0 ? &request->text
								     : NULL;

		about = argv[i];
		if (into && i + 1 < argc)
			*into = argv[++i];
		else if (into)
			mistake = "a file is missing after";
		else if (argv[i][0] == '-' && argv[i][1])
			mistake = "unknown option";
		else if (request->trace)
			mistake = "one trace at a time, please; not";
		else
			request->trace = argv[i];
	}
	if (!mistake && !request->trace) {
		mistake = "report needs a trace file";
		about = NULL;
	}
	if (mistake)
		mistaken(mistake, about);
	/* Text has to be asked for once JSON is. */
	else if (!request->text && !request->json)
		request->text = "-";
	return !mistake;
}

static int report(int argc, char **argv)
{
	struct request request = { 0 };
	struct gmt_outcome outcome = { .magic = GMT_OUTCOME_MAGIC };
	struct gmt_symbolizer *symbolizer;
	struct gmt_arena *arena;
	struct gmt_ledger *ledger;
	char error[256] = "";
	int fd, status = EXIT_WORK;

	if (!parse_request(argc, argv, &request))
		return EXIT_USAGE;
	limit_ourselves(false);
	fd = open(request.trace, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "gmtrace: cannot read %s: %s\n", request.trace, strerror(errno));
		return EXIT_WORK;
	}
	arena = gmt_arena_new();
	ledger = arena ? gmt_trace_read(fd, arena, error, sizeof(error)) : NULL;
	close(fd);
	if (ledger) {
		symbolizer = gmt_symbolizer_new(0);
		if (gmt_report_write(ledger, symbolizer, request.text, request.json, &outcome))
			status = outcome.exit_code;
		gmt_symbolizer_free(symbolizer);
	} else {
		fprintf(stderr, "gmtrace: %s is not a trace that can be read: %s\n", request.trace,
			arena ? error : "out of memory");
	}
	if (arena)
		gmt_arena_destroy(arena);
	return status;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "--help";

	if (strcmp(command, "--version") == 0) {
		puts("gmtrace " GMT_VERSION);
		return 0;
	}
	if (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0) {
		fputs(usage, argc > 1 ? stdout : stderr);
		return argc > 1 ? 0 : EXIT_USAGE;
	}
	if (strcmp(command, "exit-report") == 0 && argc == 4)
		return exit_report(argv[2], argv[3]);
	if (strcmp(command, "report") == 0)
		return report(argc - 2, argv + 2);
	return mistaken("unknown command", command);
}
