/* A directory for what a test program writes; removed when the program ends. */
#ifndef GMT_TESTS_UNIT_SCRATCH_H
#define GMT_TESTS_UNIT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_root[] = "/tmp/gmtrace-unit-XXXXXX";

/* In the runner: its tests are children, which end with _exit and so remove nothing. */
__attribute__((constructor)) static void make_scratch(void)
{
	if (!mkdtemp(scratch_root))
		abort();
}

__attribute__((destructor)) static void remove_scratch(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", scratch_root);
	if (system(command) != 0)
		perror(command);
}

/* Makes the test's own empty directory, and goes there. Its path. */
static inline const char *go_to_scratch(void)
{
	static char directory[64];

	snprintf(directory, sizeof(directory), "%s/XXXXXX", scratch_root);
	if (!mkdtemp(directory) || chdir(directory) != 0)
		abort();
	return directory;
}

#endif
