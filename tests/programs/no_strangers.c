/* case: the program that writes the report is no child of the traced one: no SIGCHLD, no wait */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void on_child(int number)
{
	(void)number;
	if (write(STDOUT_FILENO, "SIGCHLD\n", 8) != 8)
		_exit(97);
}

static void wait_for_any(void)
{
	if (waitpid(-1, NULL, WNOHANG) > 0)
		puts("a stranger");
}

int main(void)
{
	void *memory;

	signal(SIGCHLD, on_child);
	atexit(wait_for_any);
	MUST(cudaMalloc(&memory, 256));
	return 0;
}
