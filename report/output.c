/*
 * Owns the writing of reports. The text is complete before it comes here. Nothing is ever written
 * on standard output, which belongs to the program: a file is never given its descriptor.
 */
#define _GNU_SOURCE
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS	   10000 /* a terminal or pipe that takes nothing for so long takes nothing more */
#define MAX_SUFFIX 1000

static bool wait_writable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int ready;

	do
		ready = poll(&poll_fd, 1, WAIT_MS);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		errno = ETIMEDOUT;
	return ready > 0;
}

static bool write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t wrote = write(fd, text, bytes);

		if (wrote > 0) {
			text += wrote;
			bytes -= (size_t)wrote;
			continue;
		}
		if (wrote == 0) {
			errno = EIO;
			return false;
		}
		if (errno == EINTR || (errno == EAGAIN && wait_writable(fd)))
			continue;
		return false;
	}
	return true;
}

bool gmt_output_write(int fd, const char *text, size_t bytes)
{
	struct timespec at_once = { 0, 0 };
	sigset_t pipe_only, pending, old;
	bool was_pending, done;
	int error;

	/* The program's handler must not learn of a reader that left us. */
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe_only, &old);
	done = write_all(fd, text, bytes);
	error = errno;
	if (!done && error == EPIPE && !was_pending)
		while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return done;
}

/* Makes the directories that the path goes through. False: errno says why. */
static bool make_directories(const char *path)
{
	char directory[4096];
	size_t bytes = strlen(path);

	if (bytes >= sizeof(directory)) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (size_t i = 1; i < bytes; i++) {
		if (path[i] != '/')
			continue;
		memcpy(directory, path, i);
		directory[i] = '\0';
		if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
			struct stat facts;
			int error = errno;

			/* A directory on the way that may only be passed through. */
			if (stat(directory, &facts) != 0 || !S_ISDIR(facts.st_mode)) {
				errno = error;
				return false;
			}
		}
	}
	return true;
}

static int create(const char *path)
{
	int fd, high;

	do
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	while (fd < 0 && errno == EINTR);
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	/* The program closed a standard descriptor: a stray write must not land in the report. */
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	if (high < 0)
		unlink(path);
	return high;
}

/* The first of path, path.PID, path.PID.1, … that did not exist. -1: errno says why. */
static int create_new(const char *path, int pid, char *taken, size_t room)
{
	for (int suffix = -1; suffix < MAX_SUFFIX; suffix++) {
		int bytes, fd;

		if (suffix < 0)
			bytes = snprintf(taken, room, "%s", path);
		else if (suffix == 0)
			bytes = snprintf(taken, room, "%s.%d", path, pid);
		else
			bytes = snprintf(taken, room, "%s.%d.%d", path, pid, suffix);
		if (bytes < 0 || (size_t)bytes >= room) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = create(taken);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

bool gmt_output_file(const char *path, int pid, const char *text, size_t bytes, char *taken,
		     size_t room)
{
	int fd = create_new(path, pid, taken, room);
	int error;

	if (fd < 0 && errno == ENOENT && make_directories(path))
		fd = create_new(path, pid, taken, room);
	if (fd < 0)
		return false;
	if (gmt_output_write(fd, text, bytes) && close(fd) == 0)
		return true;
	error = errno;
	close(fd);
	unlink(taken);
	errno = error;
	return false;
}
