/* Start, end and fork of the recorder; the only part that knows preload, cupti and report together.
 */
#ifndef GMT_PRELOAD_INIT_H
#define GMT_PRELOAD_INIT_H

#include <stdbool.h>

#include "preload/event.h"

/* Whether this process is traced (program=). Reads the options at its first call. */
bool gmt_init_traced(void);

/*
 * The first successful use of CUDA: opens libunwind, asks the driver for its devices, starts CUPTI
 * if asked. Once; a thread that comes while another is at it waits a moment, so that its stack is
 * captured too, but never for good: the other may wait for a lock that this thread holds.
 */
void gmt_init_activate(void);

/*
 * The process ends in a way that runs no exit handler: writes the report if there is one to write.
 * Returns the status to end with: status, or a failed gate's if that is 0. Nothing happens in a
 * child of vfork, which has the parent's memory.
 */
int gmt_init_end(enum gmt_ended ended, int status);

/* Registers what quick_exit is to run last. */
void gmt_endings_start(void);

#endif
