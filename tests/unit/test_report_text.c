/* The text report, word by word, and that nothing of the program's reaches a terminal raw. */
#include <stdlib.h>

#include "report/analysis.h"
#include "report/emit.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"

static const char *finish(struct gmt_buffer *buffer)
{
	gmt_buffer_add(buffer, "", 1);
	return buffer->failed ? "" : buffer->text;
}

static const char *text_of(struct gmt_ledger *ledger, bool color)
{
	static struct gmt_buffer buffer;
	struct gmt_report *report = gmt_analysis_make(ledger, symbolizer());

	gmt_buffer_free(&buffer);
	if (!report || !gmt_emit_text(report, color, &buffer))
		return "";
	gmt_emit_summary(report, &buffer);
	gmt_analysis_free(report);
	return finish(&buffer);
}

static bool has(const char *text, const char *words)
{
	if (strstr(text, words))
		return true;
	printf("%s\n", text);
	return false;
}

static struct gmt_ledger *leaky_ledger(void)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0),
		 blas = module(ledger, "/l/libcublas.so.13", 0);
	uint32_t weights, handle, passed_room = 0;
	uint64_t passed = 0x7f0000000000;
	const struct gmt_device_facts device = { .ordinal = 0, .total_bytes = 16384 * MIB };

	name(app, 0x100, "make_weights", "/src/app.c", 12);
	name(app, 0x200, "main", "/src/app.c", 30);
	name(blas, 0x300, "cublasCreate_v2", NULL, 0);
	weights = stack(ledger, app, 0x100, app, 0x200, END);
	handle = stack(ledger, blas, 0x310, blas, 0x300, app, 0x280, app, 0x200, END);
	gmt_ledger_set_device(ledger, &device, "Test GPU");
	for (uint64_t i = 0; i < 10; i++)
		allocate(ledger, 0x7f0000000000 + i * 4 * MIB, 4 * MIB, weights, 1000000 * (i + 1));
	allocate(ledger, 0x7f1000000000, 4, handle, 20000000);
	gmt_ledger_launch(ledger, gmt_ledger_kernel(ledger, "_Z4axpyPf", 0), 0, &passed, 1);
	gmt_ledger_push_name(ledger, &ledger->passed_through, &ledger->nr_passed_through,
			     &passed_room, "cuDeviceGet");
	ledger->settings.fail_on = GMT_GATE_LEAK;
	return ledger;
}

TEST(text_reads_as_it_should)
{
	static const char expected[] =
		"gmtrace: leak: 40.0 MiB (41,943,044 bytes) in 11 blocks leaked in app (pid 4711)\n"
		"  gate failed, exit status 23\n"
		"  leak: 41943044 bytes in 11 blocks leaked\n"
		"\n"
		"Leaks\n"
		"  40.0 MiB (41,943,040 bytes) in 10 blocks by cudaMalloc on device 0, class "
		"one_time\n"
		"      make_weights /src/app.c:12\n"
		"      main /src/app.c:30\n"
		"    10 x 4.0 MiB; allocated at 0.001 s to 0.010 s; site 0xSITE\n"
		"  4 bytes in 1 block by cudaMalloc on device 0, class one_time, from "
		"cublasCreate_v2 in "
		"libcublas.so.13 and 1 frame inside\n"
		"      app+0x280 (build-id abcdef0000000000…)\n"
		"      main /src/app.c:30\n"
		"    allocated at 0.020 s; site 0xSITE\n"
		"\n"
		"Peak memory, and who held it\n"
		"  device 0 (Test GPU): 40.0 MiB at 0.020 s\n"
		"    100.0 %  40.0 MiB in 10 blocks  make_weights /src/app.c:12\n"
		"      0.0 %  4 bytes in 1 block  app+0x280 (build-id abcdef0000000000…)\n"
		"\n"
		"Fragmentation\n"
		"  device 0 (Test GPU)\n"
		"    at the end 2.0 MiB pinned: small blocks of 4 bytes hold 1 page of 2 MiB\n"
		"      1 page by 4 bytes in 1 block  app+0x280 (build-id abcdef0000000000…)\n"
		"\n"
		"Kernels, and the blocks they were passed (may reference)\n"
		"  axpy(float*): 1 launch on device 0, default stream; was passed 4.0 MiB in 1 "
		"block\n"
		"    4.0 MiB in 1 block  make_weights /src/app.c:12\n"
		"\n"
		"Coverage\n"
		"  11 allocations (by cuGetProcAddress: 11), 0 frees; 1 other name passed through; "
		"nothing lost\n"
		"gmtrace: SUMMARY: leak: 41943044 bytes in 11 blocks leaked, peak 41943044 bytes "
		"on "
		"device 0, gate failed\n";
	char *text = strdup(text_of(leaky_ledger(), false));
	char *site = text;

	while ((site = strstr(site, "site 0x"))) {
		memcpy(site + 7, "SITE", 4);
		memmove(site + 11, site + 23, strlen(site + 23) + 1);
		site += 11;
	}

	if (strcmp(text, expected) != 0)
		printf("%s\n", text);
	CHECK(strcmp(text, expected) == 0);
	return TEST_PASS;
}

TEST(text_has_colours_only_when_asked)
{
	CHECK(!strchr(text_of(leaky_ledger(), false), '\033'));
	CHECK(has(text_of(leaky_ledger(), true), "gmtrace: \033[1;31mleak\033[0m: 40.0 MiB"));
	return TEST_PASS;
}

TEST(text_escapes_what_comes_from_the_program)
{
	static const char evil[] = "a\033]0;title\007b\nc\xff\xc2\x9b"
				   "1m\xe2\x80\xae"
				   "d\xe2\x82\xac";
	struct gmt_ledger *ledger = leaky_ledger();
	const struct gmt_device_facts device = { .ordinal = 0 };
	const char *text;

	ledger->exe = evil;
	ledger->modules[0]->path = evil;
	gmt_ledger_set_device(ledger, &device, evil);
	gmt_ledger_note(ledger, evil);
	fake.names[0].name.function = evil;
	fake.names[1].name.file = evil;
	ledger->apis[API_MALLOC].runtime = evil;
	gmt_ledger_kernel(ledger, evil, 0);
	text = text_of(ledger, false);

	for (const char *at = text; *at; at++)
		CHECK((unsigned char)*at >= 0x20 || *at == '\n');
	CHECK(!strstr(text, "\xff") && !strstr(text, "\xc2\x9b") && !strstr(text, "\xe2\x80\xae"));
	CHECK(has(text, "a\\x1b]0;title\\x07b\\nc\\xff\\u{9b}1m\\u{202e}d\xe2\x82\xac"));
	return TEST_PASS;
}

TEST(text_cuts_names_that_are_pages_long)
{
	struct gmt_ledger *ledger = leaky_ledger();
	static char name_of_a_template[20000];
	const char *text;

	memset(name_of_a_template, 'x', sizeof(name_of_a_template) - 1);
	memcpy(name_of_a_template + 157, "\xe2\x82\xac\xe2\x82\xac", 6);
	fake.names[0].name.function = name_of_a_template;
	text = text_of(ledger, false);

	CHECK(strlen(text) < 8000);
	CHECK(has(text, "x\xe2\x82\xac… /src/app.c:12"));
	return TEST_PASS;
}

TEST(text_shows_ten_groups_and_counts_the_rest)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0);
	const char *text;

	for (unsigned int i = 0; i < 12; i++)
		allocate(ledger, 0x7f0000000000 + i * 0x1000, 100 - i,
			 stack(ledger, app, 0x100 + i, END), i);
	text = text_of(ledger, false);

	CHECK(has(text, "  … and 2 more (json=)\n"));
	CHECK(has(text, "  91 bytes in 1 block by cudaMalloc"));
	CHECK(!strstr(text, "  90 bytes in 1 block by cudaMalloc"));
	return TEST_PASS;
}

TEST(text_tells_sites_of_one_helper_apart_by_their_callers)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0);
	const char *text;

	name(app, 0x100, "helper", "a.c", 1);
	name(app, 0x200, "load", "a.c", 2);
	name(app, 0x300, "train", "a.c", 3);
	allocate(ledger, 0x7f0000000000, 4 * MIB, stack(ledger, app, 0x100, app, 0x200, END), 1);
	allocate(ledger, 0x7f0001000000, 2 * MIB, stack(ledger, app, 0x100, app, 0x300, END), 2);
	text = text_of(ledger, false);

	CHECK(has(text, "  4.0 MiB in 1 block  helper a.c:1 < load a.c:2\n"));
	CHECK(has(text, "  2.0 MiB in 1 block  helper a.c:1 < train a.c:3\n"));
	return TEST_PASS;
}

TEST(text_never_calls_seeing_nothing_a_clean_run)
{
	struct gmt_ledger *ledger = new_ledger();
	const char *text = text_of(ledger, false);

	CHECK(has(text, "gmtrace: incomplete: CUDA was used, but no allocation was seen in app"));
	CHECK(!strstr(text, "no leak"));
	ledger->process.cuda_used = 0;
	CHECK(has(text_of(ledger, false), "gmtrace: no_cuda: no CUDA activity was seen"));
	return TEST_PASS;
}

TEST(text_summary_is_the_contracts_line)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0);

	allocate(ledger, 0x7f0000000000, 1024, stack(ledger, app, 0x100, END), 1);
	release(ledger, 0x7f0000000000, 2);

	CHECK(has(text_of(ledger, false), "\ngmtrace: SUMMARY: clean: 0 bytes in 0 blocks leaked, "
					  "peak 1024 bytes on device 0, gate off\n"));
	return TEST_PASS;
}

TEST(buffer_writes_sizes_for_people)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 bytes" },	    { 1, "1 byte" },
		{ 1023, "1,023 bytes" },    { 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },	    { 41943040, "40.0 MiB" },
		{ 1048575, "1.0 MiB" },	    { UINT64_C(1) << 40, "1.0 TiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gmt_buffer buffer = { 0 };

		gmt_buffer_size(&buffer, cases[i].bytes);
		if (strcmp(finish(&buffer), cases[i].text) != 0)
			printf("%s, not %s\n", buffer.text, cases[i].text);
		CHECK(strcmp(buffer.text, cases[i].text) == 0);
	}
	return TEST_PASS;
}

TEST(buffer_takes_only_well_formed_utf8)
{
	static const char *const bad[] = { "\x80",	   "\xc0\x80",	       "\xc1\xbf",
					   "\xe0\x80\x80", "\xed\xa0\x80",     "\xf0\x80\x80\x80",
					   "\xf5\x80",	   "\xf4\x90\x80\x80", "\xe2\x82",
					   "\xff" };
	uint32_t point;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(gmt_utf8_next(bad[i], &point) == 0);
	CHECK(gmt_utf8_next("\xf4\x8f\xbf\xbf", &point) == 4 && point == 0x10ffff);
	CHECK(gmt_utf8_next("\xe2\x82\xac", &point) == 3 && point == 0x20ac);
	CHECK(gmt_utf8_next("a", &point) == 1 && point == 'a');
	return TEST_PASS;
}
