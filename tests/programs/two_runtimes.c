/*
 * case: two CUDA runtimes in one process, the plugin's in a local scope, are both seen, each by
 * name, and a block of one may be freed by the other (GM64)
 */
#include <cuda_runtime_api.h>

#include "program.h"

/* The simulated runtime is not meant to run on NVIDIA's driver. */
static int is_mixture(void *plugin)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*simulated)(void);

	*(void **)&simulated = dlsym(plugin, "plug_is_simulated");
	EXPECT(driver && simulated);
	return simulated() && !dlsym(driver, "gmtsim_set_tool");
}

static void leak(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 1 * MIB));
}

int main(void)
{
	void *plugin = open_beside(".plugin.so", RTLD_NOW | RTLD_LOCAL), *shared;
	void (*work)(void *);

	EXPECT(plugin);
	if (is_mixture(plugin))
		return 77;
	leak();
	MUST(cudaMalloc(&shared, 64 * KIB));
	*(void **)&work = dlsym(plugin, "plug_work");
	EXPECT(work);
	work(shared);
	/* It is another one. */
	EXPECT(dlsym(plugin, "plug_malloc_address"));
	EXPECT(*(void **)dlsym(plugin, "plug_malloc_address") != (void *)cudaMalloc);
	return 0;
}
