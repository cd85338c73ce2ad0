/*
 * Unit tests: TEST(a_sentence_that_states_the_behaviour) { ... CHECK(claim); return TEST_PASS; }
 *
 * A test program runs each of its tests in a process of its own and prints one line each,
 * "ok NAME", "FAIL NAME: file:line: claim" or "skip NAME"; tests/run.py adds them up.
 * Link with tests/test_main.c.
 */
#ifndef GMT_TESTS_TEST_H
#define GMT_TESTS_TEST_H

#include <stdio.h>

enum { TEST_PASS = 0, TEST_FAIL = 1, TEST_SKIP = 77 };

struct gmt_test {
	const char *name;
	int (*run)(void);
	struct gmt_test *next;
};

void gmt_test_register(struct gmt_test *test);

#define TEST(title)                                                                                \
	static int title(void);                                                                    \
	__attribute__((constructor)) static void register_##title(void)                            \
	{                                                                                          \
		static struct gmt_test test = { #title, title, NULL };                             \
		gmt_test_register(&test);                                                          \
	}                                                                                          \
	static int title(void)

#define CHECK(claim)                                                                               \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #claim);                         \
			return TEST_FAIL;                                                          \
		}                                                                                  \
	} while (0)

#endif
