/* case: what a plugin leaked is named after the plugin, though it was closed long ago (GM69) */
#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void *open_beside(const char *suffix)
{
	char path[PATH_MAX + 16] = "";
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX);

	EXPECT(bytes > 0);
	strcpy(path + bytes, suffix);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int main(void)
{
	void *plugin, *memory;
	void (*work)(void);

	MUST(cudaMalloc(&memory, 4096));
	plugin = open_beside(".plugin.so");
	EXPECT(plugin);
	*(void **)&work = dlsym(plugin, "plug_work");
	EXPECT(work);
	work();
	EXPECT(dlclose(plugin) == 0);
	MUST(cudaFree(memory));
	return 0;
}
