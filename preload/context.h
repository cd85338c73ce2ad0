/* What the driver knows, in words without CUDA's types; wrap_context.c and wrap_device.c ask it. */
#ifndef GMT_PRELOAD_CONTEXT_H
#define GMT_PRELOAD_CONTEXT_H

#include <stdint.h>

#include "preload/event.h"

/*
 * Where a block lies: the device's ordinal, or GMT_NO_DEVICE, and the number of the context that
 * owns it, 0 if none does: primary contexts have their ordinal + 1, created ones numbers after
 * that.
 */
struct gmt_place {
	int32_t device;
	uint32_t context;
};

/* Ordinal of the device of this thread's current context, or GMT_NO_DEVICE. */
int32_t gmt_context_device(void);

/* Memory of the current context, on its device. */
struct gmt_place gmt_context_place(void);

/* Host memory: on no device, but it goes with the current context. */
struct gmt_place gmt_context_host_place(void);

/* A stream-ordered block: on its pool's device, owned by no context. */
struct gmt_place gmt_context_pool_place(uint64_t addr);

/* The program's own memory, registered. */
struct gmt_place gmt_context_no_place(void);

/* How many devices there are; 0: not asked yet. */
void gmt_context_set_devices(int count);
int gmt_context_devices(void);

/* Hands each device's facts to the ledger. After cuInit. */
void gmt_context_note_devices(void);

/*
 * Hands the driver's figures of memory and pools to the ledger. The driver must be alive: called
 * from an exit handler that was registered after cuInit, never from the final one.
 */
void gmt_context_sample(void);

/* The driver's version (13000 for 13.0), or 0. */
int gmt_context_driver_version(void);

#endif
