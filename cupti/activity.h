/*
 * Activity buffers and the records in them. CUPTI asks for buffers on the application's threads and
 * gives them back on a thread of its own, or on the one that flushes.
 */
#ifndef GMT_CUPTI_ACTIVITY_H
#define GMT_CUPTI_ACTIVITY_H

#include "cupti/loader.h"

/* Asks for kernel records. api must outlive the process's use of CUPTI. */
CUptiResult gmt_activity_start(const struct gmt_cupti_api *api);

/* Takes in what CUPTI has; does not wait for kernels that are running. */
void gmt_activity_flush(void);

#endif
