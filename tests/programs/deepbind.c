/*
 * case: a library opened with RTLD_DEEPBIND finds libc's dlsym before ours: the flag is masked, so
 * that it is seen; with deepbind=1 it is left alone, and named as what may be missing
 */
#include <cuda_runtime_api.h>

#include "program.h"

static void leak(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 1 * MIB));
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*simulated)(void);
	void (*work)(void);
	void *plugin;

	if (is_sanitized())
		return 77;
	plugin = open_beside(".plugin.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	EXPECT(plugin && driver);
	*(void **)&simulated = dlsym(plugin, "plug_is_simulated");
	*(void **)&work = dlsym(plugin, "plug_work");
	EXPECT(simulated && work);
	/* The simulated runtime is not meant to run on NVIDIA's driver. */
	if (simulated() && !dlsym(driver, "gmtsim_set_tool"))
		return 77;
	leak();
	work();
	return 0;
}
