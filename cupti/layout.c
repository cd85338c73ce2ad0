/* Owns the table of record layouts. Pure. */
#include "cupti/layout.h"

#ifndef GMT_NO_CUPTI
#include <cupti.h>

#define SAME(type, theirs, ours)                                                                   \
	_Static_assert(offsetof(type, theirs) == offsetof(struct gmt_kernel_head, ours),           \
		       #type " has moved " #theirs)
#define SAME_HEAD(type)                                                                            \
	SAME(type, start, start_ns);                                                               \
	SAME(type, end, end_ns);                                                                   \
	SAME(type, deviceId, device);                                                              \
	SAME(type, contextId, context);                                                            \
	SAME(type, streamId, stream);                                                              \
	SAME(type, gridX, grid);                                                                   \
	SAME(type, blockX, block);                                                                 \
	SAME(type, correlationId, correlation);                                                    \
	SAME(type, name, name)

/* The oldest in use, and the newest of the headers at hand. */
#if CUPTI_API_VERSION < 130500
SAME_HEAD(CUpti_ActivityKernel6);
#endif
#if CUPTI_API_VERSION >= 130400
SAME_HEAD(CUpti_ActivityKernel13);
#elif CUPTI_API_VERSION >= 130300
SAME_HEAD(CUpti_ActivityKernel12);
#elif CUPTI_API_VERSION >= 130100
SAME_HEAD(CUpti_ActivityKernel11);
#elif CUPTI_API_VERSION >= 130000
SAME_HEAD(CUpti_ActivityKernel10);
#elif CUPTI_API_VERSION >= 19
SAME_HEAD(CUpti_ActivityKernel9);
#endif
#endif

/*
 * Versions are of the headers: 15 is CUDA 11.2, 18 is 11.8 to 12.1, 20 is 12.2, 130000
 * is 13.0. 12.0 and 12.1 answer 18 as 11.8 does and have the 9th generation, which begins with the
 * 8th.
 */
static const struct gmt_layout layouts[] = {
	{ 15, 6, 168 },	     { 17, 7, 176 },	  { 18, 8, 200 },      { 19, 9, 208 },
	{ 130000, 10, 216 }, { 130100, 11, 224 }, { 130300, 12, 232 }, { 130400, 13, 248 },
};

const struct gmt_layout *gmt_layout_choose(uint32_t version)
{
	const struct gmt_layout *chosen = NULL;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (version >= layouts[i].since)
			chosen = &layouts[i];
	return chosen;
}

uint32_t gmt_layout_oldest(const char **toolkit)
{
	*toolkit = "CUDA 11.2";
	return layouts[0].since;
}
