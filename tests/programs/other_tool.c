/* case: a tool that wraps dlsym too gets its turn, and so do we (other_tool.sh preloads it) */
#include <dlfcn.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void leak(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 9000));
}

int main(int argc, char **argv)
{
	const char *(*word)(void);

	leak();
	/* Found in the whole process, by a program that has no such symbol itself. */
	*(void **)&word = dlsym(RTLD_DEFAULT, "other_word");
	puts(word ? word() : "no other tool");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "_exit") == 0)
		_exit(5);
	return 0;
}
