/* Counters about ourselves, one per row of counters.def. Any thread, no lock. */
#ifndef GMT_PRELOAD_COUNTERS_H
#define GMT_PRELOAD_COUNTERS_H

#include <stdint.h>

enum gmt_counter {
#define GMT_COUNTER(name, text) GMT_COUNT_##name,
#include "preload/counters.def"
#undef GMT_COUNTER
	GMT_NR_COUNTERS
};

void gmt_count(enum gmt_counter counter);
void gmt_count_add(enum gmt_counter counter, uint64_t by);
uint64_t gmt_counter_value(enum gmt_counter counter);
const char *gmt_counter_name(enum gmt_counter counter);
const char *gmt_counter_text(enum gmt_counter counter);
void gmt_counters_reset(void); /* in a forked child */

#endif
