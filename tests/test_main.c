/* Runs the registered tests, each in a process of its own, so that one that crashes fails alone. */
#include "tests/test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gmt_test *tests;

void gmt_test_register(struct gmt_test *test)
{
	struct gmt_test **link = &tests;

	while (*link)
		link = &(*link)->next;
	*link = test;
}

/* The child's output is the reason of a failure, shown on the same line. */
static int run_one(struct gmt_test *test)
{
	char reason[512] = "";
	int pipes[2], status = 0;
	ssize_t got, used = 0;
	pid_t child;

	if (pipe(pipes) != 0)
		return TEST_FAIL;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(120);
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		status = test->run();
		fflush(stdout);
		_exit(status);
	}
	close(pipes[1]);
	while ((got = read(pipes[0], reason + used, sizeof(reason) - 1 - (size_t)used)) > 0)
		used += got;
	close(pipes[0]);
	waitpid(child, &status, 0);
	reason[strcspn(reason, "\n")] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_PASS) {
		printf("ok %s\n", test->name);
		return TEST_PASS;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIP) {
		printf("skip %s\n", test->name);
		return TEST_SKIP;
	}
	if (WIFSIGNALED(status))
		printf("FAIL %s: signal %d %s\n", test->name, WTERMSIG(status), reason);
	else
		printf("FAIL %s: %s\n", test->name, reason);
	return TEST_FAIL;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (struct gmt_test *test = tests; test; test = test->next) {
		if (argc > 1 && !strstr(test->name, argv[1]))
			continue;
		failed += run_one(test) == TEST_FAIL;
	}
	return failed != 0;
}
