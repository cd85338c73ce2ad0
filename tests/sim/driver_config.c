/*
 * The environment of the simulated driver, read once at the first call.
 *
 *	GMTSIM_DEVICES=1          GMTSIM_MEMORY=16G (bytes of each device; K, M, G)
 *	GMTSIM_CONTEXT_BYTES=512M GMTSIM_MODULE_BYTES=2M    what a context and a module take
 *	GMTSIM_KERNEL_NS=1000     how long a kernel without a host function takes
 *	GMTSIM_FAULT=name:nth:code[,...]   the nth call of that ABI entry fails; nth is N, N+ or *
 *	GMTSIM_OOM_AT=size        allocations of at least this size fail with 2
 *	GMTSIM_SLOW=name:us[,...] that entry first sleeps
 *	GMTSIM_STATS=path         totals are appended there at exit (driver_stats.c)
 *	GMTSIM_DEINIT=0           the driver stays usable after its exit handler
 *	GMTSIM_THUNKS=1           cuGetProcAddress hands out addresses that are no symbol's
 *	GMTSIM_FUTURE=1           the driver has versions that nobody has heard of (driver_lookup.c)
 *	GMTSIM_SELF=1             cuInit looks up the driver's own entries by dlsym, and calls them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define MAX_RULES 64
#define MAX_NAME  80

struct rule {
	char name[MAX_NAME];
	unsigned long nth, calls; /* nth 0: every call */
	bool onwards;
	unsigned long value; /* error code, or microseconds */
};

struct rules {
	struct rule rule[MAX_RULES];
	unsigned int count;
};

static struct sim_config config;
static struct rules faults, delays;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t size_of(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return otherwise;
	value = strtoull(text, &end, 0);
	switch (*end) {
	case 'G':
	case 'g':
		value <<= 10;
		/* fall through */
	case 'M':
	case 'm':
		value <<= 10;
		/* fall through */
	case 'K':
	case 'k':
		value <<= 10;
		break;
	default:
		break;
	}
	return value;
}

/* "name:nth:value" or, without nth, "name:value". False: not understood. */
static bool read_rule(const char *text, size_t length, bool with_nth, struct rule *rule)
{
	char item[2 * MAX_NAME], *nth, *value, *end;

	if (length >= sizeof(item))
		return false;
	memcpy(item, text, length);
	item[length] = '\0';
	nth = strchr(item, ':');
	if (!nth || nth - item >= MAX_NAME)
		return false;
	*nth++ = '\0';
	value = with_nth ? strchr(nth, ':') : nth;
	if (!value)
		return false;
	if (with_nth) {
		*value++ = '\0';
		rule->nth = strtoul(nth, &end, 10);
		rule->onwards = *end == '+';
		if (!rule->nth && *nth != '*')
			return false;
	}
	memcpy(rule->name, item, strlen(item) + 1);
	rule->value = strtoul(value, NULL, 10);
	return true;
}

static void read_rules(const char *variable, bool with_nth, struct rules *rules)
{
	const char *text = getenv(variable);

	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (rules->count < MAX_RULES &&
		    read_rule(text, length, with_nth, &rules->rule[rules->count]))
			rules->count++;
		else
			fprintf(stderr, "gmtsim: %s: cannot use '%.*s'\n", variable, (int)length,
				text);
		text += length;
		text += *text == ',';
	}
}

static bool is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && strcmp(text, "1") == 0;
}

static void read_environment(void)
{
	const char *deinit = getenv("GMTSIM_DEINIT");

	config.devices = (unsigned int)size_of("GMTSIM_DEVICES", 1);
	if (config.devices > SIM_MAX_DEVICE)
		config.devices = SIM_MAX_DEVICE;
	config.memory = size_of("GMTSIM_MEMORY", (uint64_t)16 << 30);
	config.context_bytes = size_of("GMTSIM_CONTEXT_BYTES", (uint64_t)512 << 20);
	config.module_bytes = size_of("GMTSIM_MODULE_BYTES", (uint64_t)2 << 20);
	config.kernel_ns = size_of("GMTSIM_KERNEL_NS", 1000);
	config.oom_at = size_of("GMTSIM_OOM_AT", 0);
	config.deinit = !deinit || strcmp(deinit, "0") != 0;
	config.thunks = is_set("GMTSIM_THUNKS");
	config.future = is_set("GMTSIM_FUTURE");
	config.self_lookup = is_set("GMTSIM_SELF");
	config.stats = getenv("GMTSIM_STATS");
	read_rules("GMTSIM_FAULT", true, &faults);
	read_rules("GMTSIM_SLOW", false, &delays);
}

const struct sim_config *sim_config(void)
{
	pthread_once(&once, read_environment);
	return &config;
}

CUresult sim_fault(const char *name)
{
	CUresult rc = CUDA_SUCCESS;

	sim_config();
	for (unsigned int i = 0; i < faults.count; i++) {
		struct rule *rule = &faults.rule[i];

		if (strcmp(rule->name, name) != 0)
			continue;
		rule->calls++;
		if (!rule->nth || rule->calls == rule->nth ||
		    (rule->onwards && rule->calls > rule->nth))
			rc = (CUresult)rule->value;
	}
	return rc;
}

unsigned int sim_slow_us(const char *name)
{
	sim_config();
	for (unsigned int i = 0; i < delays.count; i++)
		if (strcmp(delays.rule[i].name, name) == 0)
			return (unsigned int)delays.rule[i].value;
	return 0;
}
