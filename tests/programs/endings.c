/* case: a leak is reported at the end of a program, however it ends (endings.sh has the other ways)
 */
/* threads */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void quick_handler(void)
{
	fputs("quick handler\n", stderr);
}

static void *allocate_for_ever(void *data)
{
	(void)data;
	for (;;) {
		void *memory;

		if (cudaMalloc(&memory, 256) == cudaSuccess)
			cudaFree(memory);
	}
	return NULL;
}

static void *exit_from_thread(void *status)
{
	exit(*(int *)status);
}

static void in_child(pid_t child, int status)
{
	int got;

	EXPECT(waitpid(child, &got, 0) == child);
	EXPECT(WIFEXITED(got) && WEXITSTATUS(got) == status);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	int status = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread;
	pid_t child;
	void *memory;

	if (strcmp(how, "daemon") == 0) {
		if (fork() != 0)
			_exit(status);
		setsid();
		if (fork() != 0)
			_exit(0);
	}
	MUST(cudaMalloc(&memory, 4096));
	at_quick_exit(quick_handler);
	/* Not flushed: what the program has in its buffers must arrive. */
	printf("buffered");
	if (strcmp(how, "exit") == 0)
		exit(status);
	if (strcmp(how, "_exit") == 0)
		_exit(status);
	if (strcmp(how, "_Exit") == 0)
		_Exit(status);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(status);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "thread") == 0) {
		MUST(pthread_create(&thread, NULL, exit_from_thread, &status));
		pause();
	}
	if (strcmp(how, "busy") == 0) {
		for (int i = 0; i < 32; i++)
			MUST(pthread_create(&thread, NULL, allocate_for_ever, NULL));
		usleep(50000);
	}
	if (strcmp(how, "fork") == 0) {
		fflush(stdout);
		child = fork();
		if (child == 0)
			exit(3);
		in_child(child, 3);
		child = fork();
		if (child == 0)
			_exit(4);
		in_child(child, 4);
		child = vfork();
		if (child == 0)
			_exit(5);
		in_child(child, 5);
	}
	if (strcmp(how, "exec") == 0) {
		fflush(stdout);
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
	}
	return status;
}
