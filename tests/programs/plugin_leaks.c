/* case: what a plugin leaked is named after the plugin, though it was closed long ago (GM69) */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *plugin, *memory;
	void (*work)(void);

	MUST(cudaMalloc(&memory, 4096));
	plugin = open_beside(".plugin.so", RTLD_NOW | RTLD_LOCAL);
	EXPECT(plugin);
	*(void **)&work = dlsym(plugin, "plug_work");
	EXPECT(work);
	work();
	EXPECT(dlclose(plugin) == 0);
	MUST(cudaFree(memory));
	return 0;
}
