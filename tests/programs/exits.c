/*
 * case: a program ends as it would alone, whatever it, its threads and its children do meanwhile
 * (exits.sh says how; without a word it does nothing)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

#include <cuda_runtime_api.h>

#include "program.h"

static atomic_bool in_call;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void leak(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
}

static void *allocate_slowly(void *data)
{
	void *memory;

	atomic_store(&in_call, true);
	cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal);
	return data;
}

/* The driver is in a slow call of another thread: nobody waits for it, least of all the end. */
static int while_a_call_is_under_way(void)
{
	pthread_t thread;
	void *memory;
	double start;

	leak(4096);
	MUST(pthread_create(&thread, NULL, allocate_slowly, NULL));
	while (!atomic_load(&in_call))
		usleep(1000);
	usleep(20000);
	start = now();
	for (int i = 0; i < 100; i++) {
		MUST(cudaMalloc(&memory, 100));
		MUST(cudaFree(memory));
	}
	EXPECT(now() - start < 1);
	return 3;
}

static void exit_again(void)
{
	exit(6);
}

static void allocate_at_exit(void)
{
	void *memory;

	/* The runtime's own handler ran, or is still to run: either is an answer. */
	if (cudaMalloc(&memory, 100) == cudaSuccess)
		cudaFree(memory);
}

static int wait_for(pid_t child)
{
	int status;

	EXPECT(child > 0);
	EXPECT(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* One that only leaves, two deep; one that asks what it may not have; one that becomes another. */
static int with_children(void)
{
	void *memory;
	pid_t child;

	leak(4096);
	child = fork();
	if (child == 0) {
		child = fork();
		if (child == 0)
			exit(11);
		exit(wait_for(child) + 1);
	}
	EXPECT(wait_for(child) == 12);

	child = fork();
	if (child == 0) {
		/* After a fork CUDA is of no use. */
		EXPECT(cudaMalloc(&memory, 100) != cudaSuccess);
		exit(13);
	}
	EXPECT(wait_for(child) == 13);

	child = fork();
	if (child == 0)
		execl("/bin/sh", "sh", "-c", "exit 14", (char *)NULL);
	EXPECT(wait_for(child) == 14);

	child = vfork();
	if (child == 0)
		execl("/bin/sh", "sh", "-c", "exit 15", (char *)NULL);
	EXPECT(wait_for(child) == 15);
	EXPECT(waitpid(-1, NULL, 0) == -1);
	return 0;
}

/* The child uses CUDA first; the parent's ledger is not its own, nor the other way round. */
static int child_before_parent(void)
{
	pid_t child = fork();

	if (child == 0) {
		leak(3000);
		exit(0);
	}
	EXPECT(wait_for(child) == 0);
	child = fork();
	if (child == 0) {
		leak(2000);
		_exit(16);
	}
	EXPECT(wait_for(child) == 16);
	leak(500);
	return 0;
}

static int with_shells(void)
{
	leak(4096);
	EXPECT(system("echo \"1: $LD_PRELOAD\"") == 0);
	EXPECT(unsetenv("LD_PRELOAD") == 0);
	EXPECT(system("echo \"2: ${LD_PRELOAD-none}\"") == 0);
	EXPECT(setenv("LD_PRELOAD", "", 1) == 0);
	EXPECT(system("echo \"3: ${LD_PRELOAD-none}\"") == 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "slow") == 0)
		return while_a_call_is_under_way();
	if (strcmp(how, "children") == 0)
		return with_children();
	if (strcmp(how, "child_first") == 0)
		return child_before_parent();
	if (strcmp(how, "shells") == 0)
		return with_shells();
	if (strcmp(how, "handler") == 0) {
		atexit(exit_again);
		atexit(allocate_at_exit);
		leak(4096);
		atexit(allocate_at_exit);
	}
	return 0;
}
