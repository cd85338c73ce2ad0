/* The program gmtrace: what it answers, and where it writes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "preload/snapshot.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"
#include "tests/unit/scratch.h"

static char program[4096];

/* build/gmtrace, from build/tests/unit/test_report_program. False: it is not built. */
static bool find_program(void)
{
	ssize_t got = readlink("/proc/self/exe", program, sizeof(program) - 32);

	program[got > 0 ? got : 0] = '\0';
	for (int i = 0; i < 3 && strrchr(program, '/'); i++)
		*strrchr(program, '/') = '\0';
	strcat(program, "/gmtrace");
	return access(program, X_OK) == 0;
}

static const char *content(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

/* Runs gmtrace with standard output in "out" and standard error in "err". Its exit status. */
static int run(const char *arguments)
{
	char command[8192];
	int status;

	snprintf(command, sizeof(command), "%s %s >out 2>err", program, arguments);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct gmt_ledger *leaky_ledger(void)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0);

	allocate(ledger, 0x7f0000000000, 4096, stack(ledger, app, 0x100, END), 1);
	ledger->settings.fail_on = GMT_GATE_LEAK;
	return ledger;
}

static void write_trace(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || !gmt_snapshot_write(leaky_ledger(), fd))
		abort();
	close(fd);
}

#define START()                                                                                    \
	do {                                                                                       \
		if (!find_program())                                                               \
			return TEST_SKIP;                                                          \
		go_to_scratch();                                                                   \
	} while (0)

TEST(program_reports_on_a_trace_on_standard_output)
{
	START();
	write_trace("trace");

	CHECK(run("report trace") == 23);
	CHECK(strstr(content("out"), "\nLeaks\n  4.0 KiB (4,096 bytes) in 1 block by cudaMalloc"));
	CHECK(strstr(content("out"), "\ngmtrace: SUMMARY: leak: 4096 bytes"));
	CHECK(content("err")[0] == '\0');
	return TEST_PASS;
}

TEST(program_writes_the_files_it_is_asked_for)
{
	START();
	write_trace("trace");

	CHECK(run("report --json a/r.json --text a/r.txt trace") == 23);
	CHECK(content("a/r.json")[0] == '{');
	CHECK(strstr(content("a/r.txt"), "\nLeaks\n"));
	CHECK(content("out")[0] == '\0');
	CHECK(run("report --json - trace") == 23);
	CHECK(content("out")[0] == '{');
	return TEST_PASS;
}

TEST(program_says_what_is_wrong_with_its_arguments)
{
	static const char *const mistakes[] = { "",
						"nonsense",
						"report",
						"report --json",
						"report --verbose trace",
						"report one two",
						"exit-report",
						"exit-report 3",
						"exit-report three four",
						"exit-report -1 4" };

	START();
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		CHECK(run(mistakes[i]) == 2);
		CHECK(content("err")[0] != '\0' && content("out")[0] == '\0');
	}
	CHECK(run("report nowhere") == 1);
	CHECK(strstr(content("err"), "gmtrace: cannot read nowhere: No such file or directory\n"));
	CHECK(run("report /etc/passwd") == 1);
	CHECK(strstr(content("err"), "gmtrace: /etc/passwd is not a trace that can be read: "));
	CHECK(run("--version") == 0 && strncmp(content("out"), "gmtrace ", 8) == 0);
	CHECK(run("--help") == 0 && strstr(content("out"), "gmtrace report"));
	return TEST_PASS;
}

/* Starts it as libgmtrace.so does: the trace as descriptor 3, a socket as 4. Steps it answered. */
static int exit_report(int trace, struct gmt_outcome *last)
{
	struct gmt_outcome outcome;
	int sockets[2], steps = 0;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		int high_trace = fcntl(trace, F_DUPFD, 10), high_socket;

		high_socket = fcntl(sockets[1], F_DUPFD, 10);
		dup2(high_trace, 3);
		dup2(high_socket, 4);
		close(high_socket);
		dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
		execl(program, "gmtrace", "exit-report", "3", "4", NULL);
		_exit(127);
	}
	close(sockets[1]);
	while (recv(sockets[0], &outcome, sizeof(outcome), 0) == sizeof(outcome)) {
		steps++;
		*last = outcome;
	}
	waitpid(child, NULL, 0);
	return steps;
}

TEST(program_answers_the_process_that_ends)
{
	struct gmt_outcome last = { .exit_code = 0 };
	int trace;

	START();
	trace = memfd_create("trace", 0);
	CHECK(gmt_snapshot_write(leaky_ledger(), trace));

	CHECK(exit_report(trace, &last) == 2);
	CHECK(last.magic == GMT_OUTCOME_MAGIC && last.step == GMT_OUTCOME_DONE);
	CHECK(last.exit_code == 23);
	CHECK(strstr(content("err"), "\nLeaks\n"));
	return TEST_PASS;
}

TEST(program_answers_nothing_when_it_cannot_read)
{
	struct gmt_outcome last;
	int trace;

	START();
	trace = memfd_create("trace", 0);
	CHECK(write(trace, "nonsense", 8) == 8);

	CHECK(exit_report(trace, &last) == 0);
	CHECK(strstr(content("err"), "gmtrace: cannot read the trace of the process"));
	return TEST_PASS;
}
