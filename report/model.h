/*
 * The report as a tree of plain arrays: what analysis.c and fragmentation.c find, and the emitters
 * print. All of it lives in the report's heap, but for what belongs to the ledger or symbolizer.
 */
#ifndef GMT_REPORT_MODEL_H
#define GMT_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ledger.h"

struct gmt_heap;

struct gmt_report_frame {
	const char *function; /* for people; NULL: unknown */
	const char *file;
	uint32_t line, column;
	const struct gmt_module *module; /* NULL: no file holds the address */
	uint64_t offset;
	uint32_t folded; /* frames of vendor libraries that this one stands for, besides itself */
	bool inlined;
	bool vendor;
	bool header; /* a library's, inlined or instantiated in the user's module */
};

/* Where an emitter has written something before, so that it can be copied. */
struct gmt_report_written {
	size_t start, end; /* equal: nowhere */
};

/* Innermost first, without the tracer, driver, runtime, and what starts a process or a thread. */
struct gmt_report_stack {
	struct gmt_report_frame *frames;
	uint32_t nr_frames;
	/* Index of the first frame of the user's code, library headers passed over; nr_frames:
	 * none. */
	uint32_t user;
	uint64_t site;			    /* the contract's hash */
	struct gmt_report_written *written; /* the JSON emitter's */
	const char *runtime; /* public runtime function that the user called; NULL: not named */
};

struct gmt_report_size {
	uint64_t size, blocks;
	bool rest; /* size is the sum of all further ones */
};

#define GMT_REPORT_SIZES 64

enum gmt_leak_class {
	GMT_CLASS_ONE_TIME,
	GMT_CLASS_FREED_AT_TEARDOWN,
	GMT_CLASS_RESET,
};

struct gmt_report_leak {
	uint64_t bytes, blocks;
	const char *api;
	const struct gmt_report_stack *stack;
	const char *owner;	       /* file name of a module; NULL: unknown */
	struct gmt_report_size *sizes; /* largest sum first */
	uint32_t nr_sizes;
	uint64_t first_ns, last_ns;
	int32_t device;
	uint8_t kind;
	uint8_t leak_class;			/* enum gmt_leak_class */
	bool counted;				/* in totals and by the gate */
	uint64_t handles[GMT_NR_HANDLE_STATES]; /* of physical memory, how many in which state */
};

/* A call site's part in something. */
struct gmt_report_share {
	const struct gmt_report_stack *stack;
	uint32_t order; /* of the ledger's site: the earliest lends its stack */
	uint64_t bytes, blocks;
	uint64_t pages;			    /* fragmentation: that its blocks pin */
	uint64_t worst_bytes, worst_blocks; /* fragmentation: at the worst moment */
};

struct gmt_report_shares {
	struct gmt_report_share *shares; /* largest first */
	uint32_t nr_shares;
};

struct gmt_report_peak {
	int32_t device; /* GMT_NO_DEVICE: the whole process */
	uint64_t bytes, time_ns;
	struct gmt_report_shares owners;
};

struct gmt_report_site {
	const struct gmt_report_stack *stack;
	uint64_t allocations, frees;
	uint64_t live_bytes, peak_bytes, total_bytes;
	double lifetime_median; /* seconds; negative: none was freed */
};

/* All bytes. What of them is known, adds up to driver_used with unaccounted. */
struct gmt_report_balance {
	bool valid;
	uint64_t time_ns;
	uint64_t driver_used, tracked, rounding, pinned_pages, pool_idle;
	int64_t unaccounted;
};

struct gmt_report_device {
	const struct gmt_device *device;
	int32_t ordinal;
	struct gmt_report_balance balance;
	uint64_t small_page_bytes, pinned_bytes;
	struct gmt_report_shares pinners;	/* now first; with their part of the worst moment */
	struct gmt_report_shares worst_pinners; /* bytes and blocks are of the worst moment */
};

struct gmt_report_kernel {
	const struct gmt_kernel *kernel;
	const char *name; /* for people */
	uint64_t launches;
	uint64_t passed_blocks;
	struct gmt_report_shares passed;
};

enum gmt_verdict_status {
	GMT_VERDICT_CLEAN,
	GMT_VERDICT_LEAK,
	GMT_VERDICT_FAILED,
	GMT_VERDICT_NO_CUDA,
	GMT_VERDICT_INCOMPLETE,
};
#define GMT_VERDICT_NAMES "clean", "leak", "failed", "no_cuda", "incomplete"

enum gmt_gate_state {
	GMT_GATE_OFF,
	GMT_GATE_PASSED,
	GMT_GATE_FAILED,
};
#define GMT_GATE_STATE_NAMES "off", "passed", "failed"

#define GMT_REASON_BYTES 160
#define GMT_REASONS_MAX	 16

struct gmt_verdict {
	enum gmt_verdict_status status;
	enum gmt_gate_state gate;
	int32_t exit_code;
	uint32_t nr_reasons;
	char reasons[GMT_REASONS_MAX][GMT_REASON_BYTES];
};

/* A call that was a mistake, and where the memory it was about had come from. */
struct gmt_report_error {
	const char *kind; /* as the JSON report names it */
	const char *api;
	uint64_t address, time_ns, count;
	const struct gmt_report_stack *stack, *alloc_stack;
};

struct gmt_report {
	struct gmt_heap *heap;
	const struct gmt_ledger *ledger;
	bool named; /* a symbolizer was there */

	uint64_t allocations, frees;
	uint64_t leaked_bytes, leaked_blocks;
	uint64_t dropped_events, unwind_failures;

	struct gmt_report_leak *leaks;
	uint32_t nr_leaks;
	struct gmt_report_peak *peaks; /* devices in order, then the process */
	uint32_t nr_peaks;
	struct gmt_report_site *sites;
	uint32_t nr_sites;
	struct gmt_report_device *devices; /* those seen */
	uint32_t nr_devices;
	struct gmt_report_error *errors; /* most frequent first */
	uint32_t nr_errors;
	uint64_t bad_frees;		   /* all of them but oom, added up */
	struct gmt_report_kernel *kernels; /* longest first */
	uint32_t nr_kernels;
	char **notes; /* of coverage, with the counters that are not zero */
	uint32_t nr_notes;
	struct gmt_verdict verdict;
};

extern const char *const gmt_kind_names[GMT_NR_KINDS];
extern const char *const gmt_class_names[];

#endif
