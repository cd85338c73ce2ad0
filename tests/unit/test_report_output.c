/* Where reports are written, and what happens when they can't be. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/output.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"
#include "tests/unit/scratch.h"

static char taken[4352];

static const char *content(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got < 0 ? "(no file)" : text;
}

static bool is(const char *path, const char *text)
{
	return strcmp(content(path), text) == 0;
}

/* What f() writes on a standard stream. */
static const char *caught(int stream, void (*f)(void *), void *data)
{
	int saved = dup(stream), fd = open("caught", O_RDWR | O_CREAT | O_TRUNC, 0600);

	dup2(fd, stream);
	close(fd);
	f(data);
	dup2(saved, stream);
	close(saved);
	return content("caught");
}

TEST(output_makes_a_private_file)
{
	struct stat facts;

	go_to_scratch();
	CHECK(gmt_output_file("report", 7, "text", 4, taken, sizeof(taken)));

	CHECK(strcmp(taken, "report") == 0 && is("report", "text"));
	CHECK(stat("report", &facts) == 0 && (facts.st_mode & 0777) == 0600);
	return TEST_PASS;
}

TEST(output_never_overwrites)
{
	go_to_scratch();
	CHECK(gmt_output_file("report", 7, "1", 1, taken, sizeof(taken)));
	CHECK(gmt_output_file("report", 7, "2", 1, taken, sizeof(taken)));
	CHECK(strcmp(taken, "report.7") == 0);
	CHECK(gmt_output_file("report", 7, "3", 1, taken, sizeof(taken)));
	CHECK(strcmp(taken, "report.7.1") == 0);

	CHECK(is("report", "1") && is("report.7", "2") && is("report.7.1", "3"));
	return TEST_PASS;
}

TEST(output_makes_missing_directories)
{
	go_to_scratch();
	CHECK(gmt_output_file("a/b//c/report", 7, "text", 4, taken, sizeof(taken)));

	CHECK(is("a/b/c/report", "text"));
	return TEST_PASS;
}

TEST(output_does_not_follow_links)
{
	go_to_scratch();
	CHECK(symlink("victim", "dangling") == 0);
	CHECK(gmt_output_file("victim2", 7, "mine", 4, taken, sizeof(taken)));
	CHECK(symlink("victim2", "link") == 0);

	CHECK(gmt_output_file("dangling", 7, "text", 4, taken, sizeof(taken)));
	CHECK(strcmp(taken, "dangling.7") == 0 && access("victim", F_OK) != 0);
	CHECK(gmt_output_file("link", 7, "text", 4, taken, sizeof(taken)));
	CHECK(strcmp(taken, "link.7") == 0 && is("victim2", "mine"));
	return TEST_PASS;
}

TEST(output_fails_with_the_reason)
{
	char longest[5000];

	go_to_scratch();
	CHECK(gmt_output_file("file", 7, "text", 4, taken, sizeof(taken)));
	CHECK(!gmt_output_file("file/report", 7, "text", 4, taken, sizeof(taken)));
	CHECK(errno == ENOTDIR);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK(!gmt_output_file(longest, 7, "text", 4, taken, sizeof(taken)));
	CHECK(errno == ENAMETOOLONG);
	CHECK(!gmt_output_file("", 7, "text", 4, taken, sizeof(taken)));
	return TEST_PASS;
}

TEST(output_never_takes_a_standard_descriptor)
{
	go_to_scratch();
	close(STDOUT_FILENO);
	/* Were the file descriptor 1, this would end up in it. */
	CHECK(gmt_output_file("report", 7, "text", 4, taken, sizeof(taken)));
	CHECK(fcntl(STDOUT_FILENO, F_GETFD) < 0);
	return TEST_PASS;
}

TEST(output_survives_a_reader_that_left)
{
	int ends[2];
	sigset_t pending;

	CHECK(pipe(ends) == 0);
	close(ends[0]);
	CHECK(!gmt_output_write(ends[1], "text", 4));
	CHECK(errno == EPIPE);
	sigpending(&pending);
	CHECK(!sigismember(&pending, SIGPIPE));
	return TEST_PASS;
}

TEST(output_waits_for_a_slow_reader)
{
	static char large[1 << 20];
	int ends[2];
	pid_t reader;

	CHECK(pipe2(ends, O_NONBLOCK) == 0);
	memset(large, 'x', sizeof(large));
	reader = fork();
	if (reader == 0) {
		size_t total = 0;
		ssize_t got;

		close(ends[1]);
		fcntl(ends[0], F_SETFL, 0);
		while ((got = read(ends[0], large, 65536)) > 0) {
			total += (size_t)got;
			usleep(2000);
		}
		_exit(total == sizeof(large) ? 0 : 1);
	}
	CHECK(gmt_output_write(ends[1], large, sizeof(large)));
	return TEST_PASS;
}

static struct gmt_ledger *leaky_ledger(const char *report_path, const char *json_path)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0);

	allocate(ledger, 0x7f0000000000, 4096, stack(ledger, app, 0x100, END), 1);
	ledger->settings.fail_on = GMT_GATE_LEAK;
	ledger->report_path = report_path;
	ledger->json_path = json_path;
	return ledger;
}

static struct gmt_outcome outcome;

static void finish(void *ledger)
{
	gmt_report_finish(ledger, NULL, NULL, NULL, &outcome);
}

#define SUMMARY                                                                                    \
	"gmtrace: SUMMARY: leak: 4096 bytes in 1 blocks leaked, peak 4096 bytes on device 0, "     \
	"gate failed\n"

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

TEST(report_goes_to_stderr_and_never_to_stdout)
{
	const char *text;

	go_to_scratch();
	text = caught(STDERR_FILENO, finish, leaky_ledger("stderr", NULL));
	CHECK(strstr(text, "\nLeaks\n") && ends_with(text, SUMMARY));
	CHECK(outcome.exit_code == 23);
	text = caught(STDOUT_FILENO, finish, leaky_ledger("none", "report.json"));
	CHECK(*text == '\0');
	return TEST_PASS;
}

TEST(report_none_prints_nothing_and_keeps_the_verdict)
{
	const char *text;

	go_to_scratch();
	text = caught(STDERR_FILENO, finish, leaky_ledger("none", "report.json"));

	CHECK(*text == '\0');
	CHECK(outcome.exit_code == 23);
	CHECK(content("report.json")[0] == '{');
	return TEST_PASS;
}

TEST(report_in_a_file_leaves_the_summary_on_stderr)
{
	const char *text;

	go_to_scratch();
	text = caught(STDERR_FILENO, finish, leaky_ledger("dir/report", NULL));

	CHECK(strcmp(text, SUMMARY) == 0);
	CHECK(strstr(content("dir/report"), "\nLeaks\n") &&
	      ends_with(content("dir/report"), SUMMARY));
	return TEST_PASS;
}

TEST(report_that_cannot_be_written_is_on_stderr_and_keeps_the_verdict)
{
	const char *text;

	go_to_scratch();
	CHECK(gmt_output_file("file", 7, "text", 4, taken, sizeof(taken)));
	outcome.exit_code = 0;
	text = caught(STDERR_FILENO, finish, leaky_ledger("file/report", "file/json"));

	CHECK(strstr(text, "gmtrace: cannot write file/report: Not a directory\n"));
	CHECK(strstr(text, "gmtrace: cannot write file/json: Not a directory\n"));
	CHECK(strstr(text, "\nLeaks\n") && ends_with(text, SUMMARY));
	CHECK(outcome.exit_code == 23);
	return TEST_PASS;
}

TEST(report_says_where_it_is_when_the_name_was_taken)
{
	go_to_scratch();
	CHECK(gmt_output_file("report", 7, "mine", 4, taken, sizeof(taken)));

	CHECK(strstr(caught(STDERR_FILENO, finish, leaky_ledger("report", NULL)),
		     "gmtrace: file exists, so the report is in report.4711\n"));
	CHECK(is("report", "mine"));
	return TEST_PASS;
}

static const char *seen_before_output;

static void look(void *data)
{
	(void)data;
	seen_before_output = access("report", F_OK) == 0 ? "written" : "nothing";
}

TEST(report_says_when_only_writing_is_left)
{
	go_to_scratch();
	CHECK(gmt_report_finish(leaky_ledger("none", "report"), NULL, look, NULL, &outcome));

	CHECK(strcmp(seen_before_output, "nothing") == 0);
	CHECK(access("report", F_OK) == 0);
	return TEST_PASS;
}
