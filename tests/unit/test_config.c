#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/config.h"
#include "tests/test.h"

/* What gmt_config_warn prints goes into text. */
static void warnings(char *text, size_t room)
{
	int pipes[2], saved = dup(2);
	ssize_t got;

	if (pipe(pipes) != 0)
		return;
	dup2(pipes[1], 2);
	gmt_config_warn();
	dup2(saved, 2);
	close(pipes[1]);
	got = read(pipes[0], text, room - 1);
	text[got > 0 ? got : 0] = '\0';
}

TEST(config_without_options_has_the_defaults)
{
	gmt_config_load(NULL);

	CHECK(strcmp(gmt_config()->report, "stderr") == 0);
	CHECK(gmt_config()->stacks && gmt_config()->stack_depth == 64);
	CHECK(gmt_config()->kernels == GMT_KERNELS_ARGS);
	CHECK(gmt_config()->exitcode == 23 && gmt_config()->fail_on == 0);
	CHECK(gmt_config()->max_peak == UINT64_MAX);
	CHECK(!gmt_config_given("program"));
	return TEST_PASS;
}

TEST(config_reads_every_type)
{
	char text[64] = "";

	gmt_config_load("report=none:stacks=0:stack_depth=12:kernels=cupti:fail_on=leak,peak:"
			"exitcode=99:max_peak=3G:min_leak_bytes=4K:program=py*");

	CHECK(strcmp(gmt_config()->report, "none") == 0);
	CHECK(!gmt_config()->stacks && gmt_config()->stack_depth == 12);
	CHECK(gmt_config()->kernels == GMT_KERNELS_CUPTI);
	CHECK(gmt_config()->fail_on == (GMT_GATE_LEAK | GMT_GATE_PEAK));
	CHECK(gmt_config()->exitcode == 99);
	CHECK(gmt_config()->max_peak == UINT64_C(3) << 30);
	CHECK(gmt_config()->min_leak_bytes == 4096);
	CHECK(strcmp(gmt_config()->program, "py*") == 0 && gmt_config_given("program"));
	warnings(text, sizeof(text));
	CHECK(text[0] == '\0');
	return TEST_PASS;
}

TEST(config_a_quoted_value_may_hold_a_colon)
{
	gmt_config_load("json=\"/tmp/a:b.json\":report='c:d'");

	CHECK(strcmp(gmt_config()->json, "/tmp/a:b.json") == 0);
	CHECK(strcmp(gmt_config()->report, "c:d") == 0);
	return TEST_PASS;
}

TEST(config_an_unknown_key_warns_once_and_the_others_hold)
{
	char text[512] = "", again[64] = "";

	gmt_config_load("colour=blue:stack_depth=9");
	warnings(text, sizeof(text));
	warnings(again, sizeof(again));

	CHECK(strstr(text, "unknown option colour"));
	CHECK(again[0] == '\0');
	CHECK(gmt_config()->stack_depth == 9);
	return TEST_PASS;
}

TEST(config_a_bad_value_warns_and_the_default_holds)
{
	static const char *const bad[] = {
		"stacks=yes",	"stack_depth=0",  "stack_depth=257",	"exitcode=0",
		"exitcode=256", "max_peak=1X",	  "max_peak=99999999T", "fail_on=leek",
		"kernels=all",	"stack_depth=1K", "min_leak_blocks=-1"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[512] = "";
		int pipes[2];

		/* Options are read once a process. */
		CHECK(pipe(pipes) == 0);
		if (fork() == 0) {
			gmt_config_load(bad[i]);
			dup2(pipes[1], 2);
			gmt_config_warn();
			_exit(0);
		}
		close(pipes[1]);
		CHECK(read(pipes[0], text, sizeof(text) - 1) > 0);
		CHECK(strstr(text, "bad value"));
		close(pipes[0]);
	}
	return TEST_PASS;
}

TEST(config_survives_any_text)
{
	static const char *const odd[] = { "",	     ":",  "::",	 "=",
					   "=x",     "a=", "\"",	 "report=\"",
					   "a='b:c", "%",  "fail_on=,,", "json==:=" };
	char huge[20000];

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		if (fork() == 0) {
			gmt_config_load(odd[i]);
			_exit(0);
		}
	}
	memset(huge, 'a', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	gmt_config_load(huge);
	return TEST_PASS;
}

TEST(config_expands_paths)
{
	struct gmt_expand facts = {
		.program = "app",
		.host = "node7",
		.rank = "3",
		.pid = 42,
		.start_unix_s = 1700000000,
		.sequence = 5,
	};
	char out[64];

	setenv("GMT_TEST_JOB", "night", 1);
	CHECK(gmt_config_expand("%e-%h-%p-%r-%t-%n-%%", &facts, out, sizeof(out)));
	CHECK(strcmp(out, "app-node7-42-3-1700000000-5-%") == 0);
	CHECK(gmt_config_expand("%q{GMT_TEST_JOB}.json%q{GMT_TEST_NONE}", &facts, out,
				sizeof(out)));
	CHECK(strcmp(out, "night.json") == 0);
	CHECK(gmt_config_expand("%x%q{%", &facts, out, sizeof(out)));
	CHECK(strcmp(out, "%x%q{%") == 0);
	CHECK(!gmt_config_expand("0123456789", &facts, out, 10));
	return TEST_PASS;
}
