/*
 * What a kernel's record looks like. CUPTI appends fields and numbers the struct anew; the head has
 * stayed the same since CUpti_ActivityKernel3 (checked in the headers of 11.7 to 13.5). No CUPTI
 * header is needed to read it.
 */
#ifndef GMT_CUPTI_LAYOUT_H
#define GMT_CUPTI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* The head of every CUpti_ActivityKernel from the 3rd to the newest. */
struct gmt_kernel_head {
	uint32_t kind;
	uint32_t cache, partitioned_requested, partitioned_executed;
	uint64_t start_ns, end_ns, completed_ns; /* 0: CUPTI could not tell */
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name; /* mangled; CUPTI's */
};

struct gmt_layout {
	uint32_t since;	     /* the version of cuptiGetVersion that brought it */
	uint16_t generation; /* the number in CUpti_ActivityKernel<N> */
	uint16_t bytes;	     /* of a record, at least */
};

/* A newer version than any known has the newest known layout. NULL: too old to be used. */
const struct gmt_layout *gmt_layout_choose(uint32_t version);

/* The oldest version that is used, and the toolkit that brought it, for messages. */
uint32_t gmt_layout_oldest(const char **toolkit);

#endif
