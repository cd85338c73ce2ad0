/* Owns the counters. Any thread; relaxed, since they are only added up at the end. */
#include "preload/counters.h"

#include <stdatomic.h>

static atomic_uint_fast64_t values[GMT_NR_COUNTERS];

static const struct {
	const char *name, *text;
} names[GMT_NR_COUNTERS] = {
#define GMT_COUNTER(name, text) { #name, text },
#include "preload/counters.def"
#undef GMT_COUNTER
};

void gmt_count(enum gmt_counter counter)
{
	gmt_count_add(counter, 1);
}

void gmt_count_add(enum gmt_counter counter, uint64_t by)
{
	atomic_fetch_add_explicit(&values[counter], by, memory_order_relaxed);
}

uint64_t gmt_counter_value(enum gmt_counter counter)
{
	return atomic_load_explicit(&values[counter], memory_order_relaxed);
}

const char *gmt_counter_name(enum gmt_counter counter)
{
	return names[counter].name;
}

const char *gmt_counter_text(enum gmt_counter counter)
{
	return names[counter].text;
}

void gmt_counters_reset(void)
{
	for (int i = 0; i < GMT_NR_COUNTERS; i++)
		atomic_store_explicit(&values[i], 0, memory_order_relaxed);
}
