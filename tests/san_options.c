/*
 * Linked into the program gmtrace of a build with sanitizers: it ends without giving back what the
 * system gives back, and the environment in which it is started has no room for options.
 */
/* Not hidden as the rest: the sanitizer looks for it. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
