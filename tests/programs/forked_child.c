/* case: a forked child reports on its own memory and keeps its own status, whatever its gate says
 */
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void leak_in_child(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 3000));
}

static void leak_in_parent(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 500));
}

int main(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		leak_in_child();
		exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child);
	printf("child: %d\n", status);
	leak_in_parent();
	return 0;
}
