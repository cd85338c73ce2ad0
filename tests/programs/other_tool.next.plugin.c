/* The first of two in other_tool.sh that have the same word. */
/* links: none */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

const char *other_word(void);

/* The next one after the caller of dlsym, which is this library, is the other library's. */
const char *other_word(void)
{
	const char *(*word)(void);

	*(void **)&word = dlsym(RTLD_NEXT, "other_word");
	return word ? word() : "none";
}
