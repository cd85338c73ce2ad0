/* What the test programs share: a failure that has no part in the case ends the program. */
#ifndef GMT_TESTS_PROGRAM_H
#define GMT_TESTS_PROGRAM_H

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* The call's success is 0 in the runtime's and in the driver's API. */
#define MUST(call)                                                                                 \
	do {                                                                                       \
		int must_rc = (int)(call);                                                         \
		if (must_rc != 0) {                                                                \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call,        \
				must_rc);                                                          \
			exit(99);                                                                  \
		}                                                                                  \
	} while (0)

#define EXPECT(claim)                                                                              \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);        \
			exit(98);                                                                  \
		}                                                                                  \
	} while (0)

/* Opens what lies beside the program under its name with a suffix. NULL: it cannot be opened. */
static inline void *open_beside(const char *suffix, int flags)
{
	char path[PATH_MAX + 64] = "";
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX);
	void *handle;

	EXPECT(bytes > 0);
	strcpy(path + bytes, suffix);
	handle = dlopen(path, flags);
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	return handle;
}

/* A sanitizer's runtime is there, whose dlopen ends a program or forgets who called. */
static inline int is_sanitized(void)
{
	void *program = dlopen(NULL, RTLD_NOW);

	return dlsym(program, "__asan_init") || dlsym(program, "__tsan_init");
}

#endif
