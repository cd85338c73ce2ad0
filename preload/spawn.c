/*
 * Owns the birth of the reporting process. Runs once, in the thread that ends the process. No fork:
 * that would run the program's atfork handlers and copy its page tables; the children share memory
 * until they exec or exit, and call nothing but system calls.
 */
#define _GNU_SOURCE
#include "preload/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/real.h"
#include "preload/snapshot.h"

/* The report of a large program takes seconds; after this it is written here, without names. */
#define LIMIT_MS    60000
#define STACK_BYTES (64 * 1024)
#define ENV_MAX	    16

/* Descriptors of the child, above the standard ones. */
#define TRACE_FD  3
#define RESULT_FD 4

typedef int clone_fn(int (*run)(void *), void *stack, int flags, void *data, ...);

struct birth {
	clone_fn *clone; /* libc's: ThreadSanitizer's cannot do without a fork */
	const char *program;
	char *const *argv;
	char *const *envp;
	int trace_fd, result_fd;
	int error; /* of the exec, seen by us because the memory is shared */
	pid_t grandchild;
	void *stack; /* the grandchild's */
};

/*
 * Shares our memory, runs alone: the one who started it sleeps until it has exec'ed. Both
 * descriptors are moved above the places they shall have first, so that neither hits the other.
 */
static int grandchild(void *data)
{
	struct birth *birth = data;
	int trace = fcntl(birth->trace_fd, F_DUPFD, RESULT_FD + 1);
	int result = fcntl(birth->result_fd, F_DUPFD, RESULT_FD + 1);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(trace, TRACE_FD) >= 0 && dup2(result, RESULT_FD) >= 0) {
		syscall(SYS_close_range, RESULT_FD + 1, ~0u, 0);
		execve(birth->program, birth->argv, birth->envp);
	}
	birth->error = errno;
	syscall(SYS_exit, 127);
	return 0;
}

static int child(void *data)
{
	struct birth *birth = data;

	birth->grandchild = birth->clone(grandchild, (char *)birth->stack + STACK_BYTES,
					 CLONE_VM | CLONE_VFORK | SIGCHLD, birth);
	if (birth->grandchild < 0)
		birth->error = errno;
	syscall(SYS_exit, 0);
	return 0;
}

static bool start(struct birth *birth)
{
	sigset_t all, old;
	char *stacks;
	pid_t pid;

	birth->clone = (clone_fn *)gmt_real_of_libc("clone");
	if (!birth->clone)
		return false;
	stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (stacks == MAP_FAILED)
		return false;
	birth->stack = stacks;
	/* A handler of the program must not run in a child that shares its memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	/* No signal at its end (exit signal 0), so that only __WALL sees it. */
	pid = birth->clone(child, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, birth);
	if (pid > 0)
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	munmap(stacks, 2 * STACK_BYTES);
	return pid > 0 && birth->grandchild > 0 && birth->error == 0;
}

/* LD_PRELOAD stays behind, as does all that could change how gmtrace loads or what it does. */
static void pick_environment(char **out)
{
	static const char *const kept[] = { "PATH=", "HOME=",	  "LANG=", "LC_ALL=",
					    "TERM=", "NO_COLOR=", "TZ=",   "TMPDIR=" };
	unsigned int count = 0;

	for (char **entry = environ; entry && *entry && count < ENV_MAX - 1; entry++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (strncmp(*entry, kept[i], strlen(kept[i])) == 0)
				out[count++] = *entry;
	out[count] = NULL;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads steps until the last one, the end of the other side, or the limit. */
static enum gmt_spawned wait_outcome(int fd, struct gmt_outcome *outcome)
{
	enum gmt_spawned state = GMT_SPAWN_FAILED;
	long limit = now_ms() + LIMIT_MS;

	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		long left = limit - now_ms();
		int ready = left > 0 ? poll(&poll_fd, 1, (int)left) : 0;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0 || recv(fd, outcome, sizeof(*outcome), 0) != sizeof(*outcome) ||
		    outcome->magic != GMT_OUTCOME_MAGIC)
			return state;
		if (outcome->step == GMT_OUTCOME_DONE)
			return GMT_SPAWN_DONE;
		state = GMT_SPAWN_WROTE;
	}
}

static enum gmt_spawned run(const char *program, int trace_fd, struct gmt_outcome *outcome)
{
	char *const argv[] = { (char *)"gmtrace", (char *)"exit-report", (char *)"3", (char *)"4",
			       NULL };
	char *environment[ENV_MAX];
	enum gmt_spawned state = GMT_SPAWN_FAILED;
	int sockets[2];
	struct birth birth = {
		.program = program,
		.argv = argv,
		.envp = environment,
		.trace_fd = trace_fd,
	};

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return GMT_SPAWN_FAILED;
	pick_environment(environment);
	birth.result_fd = sockets[1];
	if (start(&birth)) {
		close(sockets[1]);
		state = wait_outcome(sockets[0], outcome);
		if (state == GMT_SPAWN_FAILED)
			kill(birth.grandchild, SIGKILL);
	} else {
		close(sockets[1]);
	}
	close(sockets[0]);
	return state;
}

enum gmt_spawned gmt_spawn_report(const struct gmt_ledger *ledger, const char *own_directory,
				  struct gmt_outcome *outcome)
{
	static const char *const places[] = { "/gmtrace", "/../../bin/gmtrace" };
	enum gmt_spawned state = GMT_SPAWN_FAILED;
	char path[4096];
	int fd;

	fd = memfd_create("gmtrace", MFD_CLOEXEC);
	if (fd < 0)
		return GMT_SPAWN_FAILED;
	if (gmt_snapshot_write(ledger, fd) && strlen(own_directory) < sizeof(path) - 32) {
		for (int i = 0; i < 2 && state == GMT_SPAWN_FAILED; i++) {
			strcpy(path, own_directory);
			strcat(path, places[i]);
			/* A directory named so is no program. */
			if (access(path, X_OK) == 0)
				state = run(path, fd, outcome);
		}
	}
	close(fd);
	return state;
}
