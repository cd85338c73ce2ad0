/*
 * From kernel records to the ledger. A buffer's records are added up first, so that the ledger's
 * lock is taken once per kernel, device and stream, and not once per record.
 *
 *	record ──► batch: one row per (name, device, stream) ──► gmt_record_kernel_time
 *
 * Any thread, CUPTI's own too: no unwinding, no CUDA, no allocation but the ledger's.
 */
#ifndef GMT_CUPTI_ATTRIBUTE_H
#define GMT_CUPTI_ATTRIBUTE_H

#include <stdint.h>

#include "cupti/layout.h"

#define GMT_BATCH_ROWS 256 /* a power of two */
#define GMT_BATCH_FULL 192 /* rows in use at which a batch is handed over */

struct gmt_batch_row {
	const char *name; /* NULL: free */
	uint64_t gpu_ns, records;
	uint32_t device, stream;
};

struct gmt_batch {
	struct gmt_batch_row rows[GMT_BATCH_ROWS]; /* by hash of what is added up; linear probing */
	uint32_t used;
};

void gmt_batch_begin(struct gmt_batch *batch);

/* Hands over by itself when it is full. */
void gmt_batch_add(struct gmt_batch *batch, const struct gmt_kernel_head *record);

/* Hands the rows to the ledger and begins anew. Names are not looked at after this. */
void gmt_batch_hand_over(struct gmt_batch *batch);

/* Records so far, and those of them that CUPTI gave no times for. */
uint64_t gmt_attribute_records(void);
uint64_t gmt_attribute_untimed(void);

#endif
