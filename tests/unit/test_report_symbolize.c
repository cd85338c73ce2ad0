/* Names from real files: a small program is compiled, and its own addresses are asked for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/symbolize.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"
#include "tests/unit/scratch.h"

/* Prints the address in its file of the return address in each of its functions, and its base. */
static const char source[] =
	"#define _GNU_SOURCE\n"
	"#include <dlfcn.h>\n" /* line 2 */
	"#include <link.h>\n"
	"#include <stdio.h>\n"
	"__attribute__((noinline)) static void here(const char *name)\n"
	"{\n"
	"	Dl_info info; struct link_map *map;\n"
	"	dladdr1(__builtin_return_address(0), &info, (void **)&map, RTLD_DL_LINKMAP);\n"
	"	printf(\"%s %lx\\n\", name, (unsigned long)__builtin_return_address(0) - "
	"map->l_addr);\n"
	"}\n"
	"static inline __attribute__((always_inline)) void inner(void)\n"
	"{\n"
	"	here(\"inner\");\n" /* line 13 */
	"}\n"
	"__attribute__((noinline)) static void hidden(void)\n"
	"{\n"
	"	inner();\n" /* line 17 */
	"	puts(\"\");\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	hidden();\n"
	"	here(\"main\");\n" /* line 23 */
	"	return 0;\n"
	"}\n";

static const char *directory;

static void write_text(const char *path, const char *text, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes)
		abort();
	close(fd);
}

/* Compiles and runs; offsets of the two calls. False: there is no compiler. */
static bool build(const char *flags, unsigned long *inner, unsigned long *in_main)
{
	char command[512];
	FILE *output;
	bool done;

	if (!directory)
		directory = go_to_scratch();
	write_text("app.c", source, sizeof(source) - 1);
	snprintf(command, sizeof(command), "cc -Wl,--build-id %s -o app app.c -ldl && ./app",
		 flags);
	output = popen(command, "r");
	done = output && fscanf(output, "inner %lx main %lx", inner, in_main) == 2;
	if (output)
		pclose(output);
	return done;
}

/* The build-id note of a file, found by its text form. */
static bool fill_module(struct gmt_module *found, const char *file)
{
	static char path[512];
	char command[256], hex[128] = "";
	FILE *output;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	*found = (struct gmt_module){ .id = 1, .path = path };
	snprintf(command, sizeof(command), "readelf -n %s | sed -n 's/.*Build ID: //p'", file);
	output = popen(command, "r");
	if (!output || fscanf(output, "%127s", hex) != 1)
		hex[0] = '\0';
	if (output)
		pclose(output);
	for (size_t i = 0; hex[i] && hex[i + 1] && i / 2 < sizeof(found->build_id); i += 2) {
		const char byte[3] = { hex[i], hex[i + 1], '\0' };

		found->build_id[found->build_id_bytes++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return found->build_id_bytes > 0;
}

static struct gmt_names names;

static bool resolve(const struct gmt_module *from, unsigned long offset)
{
	struct gmt_symbolizer *found = gmt_symbolizer_new(0);

	return found->resolve(found, from, offset, &names);
}

static bool named(uint32_t index, const char *function, uint32_t line, bool is_inlined)
{
	const struct gmt_name *found = &names.names[index];

	if (index >= names.count || !found->function)
		return false;
	if (strcmp(found->function, function) != 0 || found->line != line ||
	    found->inlined != is_inlined)
		printf("%s:%u, inlined %d\n", found->function, found->line, found->inlined);
	return strcmp(found->function, function) == 0 && found->line == line &&
	       found->inlined == is_inlined &&
	       (!line || (found->file && strstr(found->file, "app.c")));
}

#define BUILD(flags)                                                                               \
	do {                                                                                       \
		if (!build(flags, &inner, &in_main) || !fill_module(&app, "app"))                  \
			return TEST_SKIP;                                                          \
	} while (0)

TEST(symbolizer_names_functions_with_files_and_lines)
{
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-g -O2");
	CHECK(resolve(&app, inner));
	CHECK(names.count == 2);
	CHECK(named(0, "inner", 13, true));
	CHECK(named(1, "hidden", 17, false));
	CHECK(resolve(&app, in_main));
	CHECK(names.count == 1 && named(0, "main", 23, false));
	return TEST_PASS;
}

TEST(symbolizer_knows_programs_at_fixed_addresses)
{
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-g -O2 -no-pie");
	CHECK(resolve(&app, inner) && named(1, "hidden", 17, false));
	return TEST_PASS;
}

TEST(symbolizer_manages_without_the_index_of_ranges)
{
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-g -O2");
	if (system("objcopy --remove-section .debug_aranges app") != 0)
		return TEST_SKIP;
	CHECK(resolve(&app, inner));
	CHECK(names.count == 2 && named(0, "inner", 13, true) && named(1, "hidden", 17, false));
	return TEST_PASS;
}

TEST(symbolizer_has_names_without_debug_information)
{
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-O2");
	CHECK(resolve(&app, inner));
	CHECK(names.count == 1 && named(0, "hidden", 0, false));
	return TEST_PASS;
}

TEST(symbolizer_claims_nothing_about_a_stripped_file)
{
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-O2 -s");
	CHECK(!resolve(&app, inner));
	CHECK(!resolve(&app, in_main));
	return TEST_PASS;
}

TEST(symbolizer_refuses_a_file_of_another_build)
{
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-g -O2");
	app.build_id[3] ^= 1;
	CHECK(!resolve(&app, inner));
	app.build_id_bytes = 0;
	CHECK(!resolve(&app, inner));
	return TEST_PASS;
}

TEST(symbolizer_survives_offsets_outside_of_the_code)
{
	static const uint64_t offsets[] = { 0, 1, 0x40, UINT64_MAX, UINT64_C(1) << 63, 0x7fffffff };
	unsigned long inner, in_main;
	struct gmt_module app;

	BUILD("-g -O2");
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		resolve(&app, offsets[i]);
	return TEST_PASS;
}

TEST(symbolizer_opens_regular_files_only)
{
	unsigned long inner, in_main;
	struct gmt_module app, other;
	char path[64];

	BUILD("-g -O2");
	CHECK(mkfifo("fifo", 0600) == 0);
	snprintf(path, sizeof(path), "%s/fifo", directory);
	other = app;
	other.path = path;
	CHECK(!resolve(&other, inner));
	other.path = "[vdso]";
	CHECK(!resolve(&other, inner));
	other.path = "app";
	CHECK(!resolve(&other, inner));
	other.path = "/dev/zero";
	CHECK(!resolve(&other, inner));
	other.path = directory;
	CHECK(!resolve(&other, inner));
	CHECK(resolve(&app, inner));
	return TEST_PASS;
}

/* Runs f in a child: whatever a broken file does to libdw, the process of the test goes on. */
static int status_of(bool (*f)(const struct gmt_module *, unsigned long),
		     const struct gmt_module *from, unsigned long offset)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		alarm(20);
		f(from, offset);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

TEST(symbolizer_survives_damaged_files)
{
	unsigned long inner, in_main;
	struct gmt_module app, damaged;
	static char whole[1 << 20];
	ssize_t bytes;
	int fd;

	BUILD("-g -O2");
	fd = open("app", O_RDONLY);
	bytes = read(fd, whole, sizeof(whole));
	close(fd);
	CHECK(bytes > 4096);
	damaged = app;
	damaged.path = "/tmp/nothing";
	for (unsigned int round = 0; round < 40; round++) {
		static char broken[1 << 20], path[600];
		unsigned int seed = round;

		memcpy(broken, whole, (size_t)bytes);
		for (int i = 0; i < 60; i++) {
			size_t at = (size_t)rand_r(&seed) * 7 % (size_t)bytes;

			/* The head and the build-id stay, so that the rest is read at all. */
			if (at > 0x400)
				broken[at] = (char)rand_r(&seed);
		}
		write_text("broken", broken, round % 4 ? (size_t)bytes : (size_t)bytes / 2);
		snprintf(path, sizeof(path), "%s/broken", directory);
		damaged.path = path;
		CHECK(status_of(resolve, &damaged, inner) == 0);
		CHECK(status_of(resolve, &damaged, in_main) == 0);
	}
	return TEST_PASS;
}

TEST(symbolizer_demangles_once_and_for_all)
{
	struct gmt_symbolizer *found = gmt_symbolizer_new(0);
	const char *once = found->demangle(found, "_Z4axpyPfi");

	CHECK(strcmp(once, "axpy(float*, int)") == 0);
	CHECK(found->demangle(found, "_Z4axpyPfi") == once);
	CHECK(strcmp(found->demangle(found, "main"), "main") == 0);
	CHECK(strcmp(found->demangle(found, "_Zgarbage"), "_Zgarbage") == 0);
	CHECK(strcmp(found->demangle(found, ""), "") == 0);
	gmt_symbolizer_free(found);
	return TEST_PASS;
}
