/* What the driver knows, in words without CUDA's types; wrap_context.c asks it. */
#ifndef GMT_PRELOAD_CONTEXT_H
#define GMT_PRELOAD_CONTEXT_H

#include <stdint.h>

#include "preload/event.h"

/* Ordinal of the device of this thread's current context, or GMT_NO_DEVICE. */
int32_t gmt_context_device(void);

/* Ordinal of the device that a stream-ordered block lies on. */
int32_t gmt_context_device_of(uint64_t addr);

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
