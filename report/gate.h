/* The gates: whether a run passes. Pure. */
#ifndef GMT_REPORT_GATE_H
#define GMT_REPORT_GATE_H

#include "report/model.h"

#define GMT_EXIT_NOT_JUDGED 24

/* What the gates are asked about. */
struct gmt_gate_facts {
	uint64_t leaked_bytes, leaked_blocks; /* counted ones */
	uint64_t peak_bytes;		      /* of the device with the highest */
	int32_t peak_device;
	uint64_t bad_frees;
	uint64_t dropped_events;
	bool cuda_used;
	bool saw_calls; /* some call or look-up of CUDA came by the hooks, besides cuInit */
};

/*
 * The leak gate fails when the counted leaks reach both min_leak_bytes and min_leak_blocks: below
 * either, they pass. A gate that could not judge never passes: exit code 24, unless another failed.
 */
void gmt_gate_judge(const struct gmt_settings *settings, const struct gmt_gate_facts *facts,
		    struct gmt_verdict *verdict);

#endif
