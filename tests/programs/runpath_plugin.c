/*
 * case: a plugin opens its sibling by a bare name, which the loader finds by the plugin's own
 * RUNPATH: dlopen keeps its caller (GM66)
 */
#include "program.h"

int main(void)
{
	void *plugin;
	void (*work)(void);

	if (is_sanitized())
		return 77;
	/* From here it is not to be found. */
	EXPECT(!dlopen("runpath_plugin.sibling.plugin.so", RTLD_NOW));
	plugin = open_beside(".plugin.so", RTLD_NOW | RTLD_LOCAL);
	EXPECT(plugin);
	*(void **)&work = dlsym(plugin, "plug_work");
	EXPECT(work);
	work();
	return 0;
}
