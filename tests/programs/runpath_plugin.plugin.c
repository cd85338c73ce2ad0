/* The plugin of runpath_plugin.c. */
/* links: none */
#include <dlfcn.h>

#include "program.h"

void plug_work(void);
int plug_secret(void);

int plug_secret(void)
{
	return 42;
}

void plug_work(void)
{
	void *sibling = dlopen("runpath_plugin.sibling.plugin.so", RTLD_NOW | RTLD_LOCAL);
	void (*work)(void);

	EXPECT(sibling);
	*(void **)&work = dlsym(sibling, "sibling_work");
	EXPECT(work);
	work();
	/* Of the caller's own scope: nobody else sees it, as the plugin is opened locally. */
	EXPECT(dlsym(RTLD_DEFAULT, "plug_secret") == (void *)plug_secret);
	/* The next after the caller is the sibling's in none of its scopes, but libc's. */
	EXPECT(dlsym(RTLD_NEXT, "plug_secret") == NULL);
	EXPECT(dlsym(RTLD_NEXT, "getpagesize") != NULL);
}
