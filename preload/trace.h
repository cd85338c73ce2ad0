/*
 * The trace format, version 1: a header, then records. Little endian; every record begins at a
 * multiple of 8 and names its whole length, so that an unknown one is skipped. Strings are counted,
 * not terminated. Written by snapshot.c, read by report/read_trace.c, which trusts nothing.
 *
 * This part holds the ledger's state: rows in an order in which each refers to earlier ones only.
 */
#ifndef GMT_PRELOAD_TRACE_H
#define GMT_PRELOAD_TRACE_H

#include "preload/event.h"

#define GMT_TRACE_MAGIC	  "gmtrace\n"
#define GMT_TRACE_VERSION 1

struct gmt_trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t byte_order; /* 0x01020304 as the writer holds it */
	uint32_t reserved;
};

#define GMT_BYTE_ORDER 0x01020304u

enum gmt_trace_type {
	GMT_TRACE_PROCESS = 1, /* struct gmt_process */
	GMT_TRACE_SETTINGS,    /* struct gmt_settings */
	GMT_TRACE_TEXT,	       /* struct gmt_trace_text, string */
	GMT_TRACE_API,	       /* struct gmt_trace_api, two strings */
	GMT_TRACE_COUNTER,     /* struct gmt_trace_counter, two strings */
	GMT_TRACE_TOTALS,      /* struct gmt_trace_totals */
	GMT_TRACE_DEVICE,      /* struct gmt_trace_device, string */
	GMT_TRACE_POOL,	       /* struct gmt_trace_pool */
	GMT_TRACE_MODULE,      /* struct gmt_trace_module, string */
	GMT_TRACE_STACK,       /* struct gmt_trace_stack, frames */
	GMT_TRACE_SITE,	       /* struct gmt_site */
	GMT_TRACE_BLOCK,       /* struct gmt_trace_block */
	GMT_TRACE_HANDLE,      /* struct gmt_trace_handle */
	GMT_TRACE_KERNEL,      /* struct gmt_trace_kernel, struct gmt_trace_kernel_site[], string */
	GMT_TRACE_ERROR,       /* struct gmt_trace_error */
	GMT_TRACE_END,	       /* nothing follows */
};

struct gmt_trace_record {
	uint32_t type;
	uint32_t bytes; /* with this header and the padding to 8 */
};

enum gmt_text {
	GMT_TEXT_EXE = 1,
	GMT_TEXT_HOST,
	GMT_TEXT_VERSION,
	GMT_TEXT_ARGV, /* one record per argument, in order */
	GMT_TEXT_REPORT_PATH,
	GMT_TEXT_JSON_PATH,
	GMT_TEXT_PASSED, /* one record per name */
	GMT_TEXT_NOTE,
};

struct gmt_trace_text {
	uint32_t what; /* enum gmt_text */
	uint32_t bytes;
};

struct gmt_trace_api {
	uint32_t id;
	uint32_t abi_bytes, runtime_bytes; /* runtime_bytes 0: none */
	uint32_t reserved;
};

struct gmt_trace_counter {
	uint64_t value;
	uint32_t name_bytes, text_bytes;
};

struct gmt_trace_totals {
	uint64_t failed_allocations;
	uint64_t routes[GMT_NR_ROUTES];
	uint64_t hook_calls, hook_ns, host_bytes, trace_bytes;
	uint64_t next_seq;
	struct {
		uint64_t allocations, frees, live_bytes, live_blocks, peak_bytes;
	} kinds[GMT_NR_KINDS];
	struct {
		uint64_t live_bytes, live_blocks, peak_bytes, peak_blocks, peak_time_ns, generation;
	} process;
	struct {
		uint64_t mappings, mapped_bytes, reservations, reserved_bytes;
	} vmm;
	uint32_t cupti;
	uint32_t reserved;
};

struct gmt_trace_device {
	struct gmt_device_facts facts;
	struct gmt_device_sample sample;
	uint64_t live_bytes, live_blocks, peak_bytes, peak_blocks, peak_time_ns, generation;
	uint64_t small_pages, small_bytes, small_blocks, rounding_bytes;
	uint64_t worst_pinned, worst_pages, worst_small_bytes, worst_time_ns, worst_generation;
	uint32_t name_bytes; /* 0: unknown */
	uint32_t reserved;
};

struct gmt_trace_pool {
	struct gmt_pool_sample sample;
	uint64_t pool, used_bytes, used_peak;
	int32_t device;
	uint32_t reserved;
};

struct gmt_trace_module {
	uint64_t base, bytes, runtime_lo;
	uint8_t build_id[32];
	uint32_t build_id_bytes, path_bytes;
};

struct gmt_trace_stack {
	uint32_t id, nr_frames;
};

struct gmt_trace_block {
	uint64_t addr, bytes, time_ns, seq, pool;
	uint32_t site, state;
};

/* A live handle of physical memory. */
struct gmt_trace_handle {
	uint64_t value, bytes, time_ns, seq;
	uint32_t site, state;
	uint32_t references, releases, mappings;
	uint32_t reserved;
};

struct gmt_trace_kernel {
	uint64_t launches, records, gpu_time_ns, bytes_referenced;
	uint64_t streams[8];
	int32_t device;
	uint32_t nr_streams, name_bytes, nr_sites;
};

struct gmt_trace_error {
	uint64_t address, time_ns, count;
	uint32_t stack, alloc_stack;
	uint32_t api, kind;
};

struct gmt_trace_kernel_site {
	uint64_t bytes, blocks;
	uint32_t site, reserved;
};

#endif
