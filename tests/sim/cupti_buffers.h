/* From finished records to the client's buffers; see cupti_buffers.c. */
#ifndef GMT_TESTS_SIM_CUPTI_BUFFERS_H
#define GMT_TESTS_SIM_CUPTI_BUFFERS_H

#include "tests/sim/cupti_sim.h"

/* Takes a copy. What finds no buffer later is counted as dropped. */
void sim_cupti_queue(const void *record, size_t bytes);

/* Delivers what is there and forgets the client. */
void sim_cupti_buffers_stop(void);

#endif
