/* What driver_context.c and driver_primary.c share. */
#ifndef GMT_TESTS_SIM_DRIVER_CONTEXT_H
#define GMT_TESTS_SIM_DRIVER_CONTEXT_H

#include "driver.h"

/* A context without a device yet; NULL: out of memory. */
struct sim_context *sim_context_new(bool primary);
/* Takes its memory from the device. A primary context is opened again after a reset. */
CUresult sim_context_open(struct sim_context *ctx, struct sim_device *device, unsigned int flags);
void sim_context_close(struct sim_context *ctx);

#endif
