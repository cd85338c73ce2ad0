/*
 * The plain words shared by the recorder, the ledger, the trace and the report: kinds, events,
 * rows. Constants and structs only, no functions, no CUDA. Everything here may be written to a file
 * as it stands (little endian, natural alignment, no pointers), except struct gmt_block.
 *
 * Sizes are bytes. Times are nanoseconds since the process's start (struct
 * gmt_process.start_unix_ns).
 */
#ifndef GMT_PRELOAD_EVENT_H
#define GMT_PRELOAD_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_kind {
	GMT_KIND_DEVICE,
	GMT_KIND_MANAGED,
	GMT_KIND_PINNED,
	GMT_KIND_REGISTERED,
	GMT_KIND_ARRAY,
	GMT_KIND_POOL,
	GMT_KIND_VMM,
	GMT_KIND_IMPORTED,
	GMT_KIND_GRAPH,
	GMT_NR_KINDS
};

/* The names of the JSON report, in the enum's order. */
#define GMT_KIND_NAMES                                                                             \
	"device", "managed", "pinned", "registered", "array", "pool", "vmm", "imported", "graph"

/* How the call reached us. */
enum gmt_route {
	GMT_ROUTE_SYMBOL,  /* linked, or found by RTLD_DEFAULT: our exported symbol */
	GMT_ROUTE_DLSYM,   /* handed out by the dlsym filter */
	GMT_ROUTE_GETPROC, /* handed out by cuGetProcAddress */
	GMT_ROUTE_CUPTI,   /* seen by CUPTI only */
	GMT_NR_ROUTES
};

/*
 * An API id: the row's number in driver_apis.def, with GMT_API_RUNTIME set when the entry was
 * handed to a CUDA runtime, so that the report names what the user wrote (cudaMalloc).
 */
#define GMT_API_RUNTIME 0x8000u
#define GMT_NO_DEVICE	(-1) /* host memory belongs to no device */
#define GMT_MAX_DEVICES 64
#define GMT_MAX_DEPTH	256 /* upper bound of the option stack_depth */
/* Frames of the CUDA runtime are kept on top of it: which there are depends on the runtime. */
#define GMT_RUNTIME_FRAMES 8
#define GMT_MAX_FRAMES	   (GMT_MAX_DEPTH + GMT_RUNTIME_FRAMES)
#define GMT_NAME_MAX	   4096 /* longest string in a trace; longer ones are cut */

#define GMT_PAGE_SHIFT 21 /* the driver's physical pages are 2 MiB (measured) */
#define GMT_PAGE_BYTES (UINT64_C(1) << GMT_PAGE_SHIFT)
#define GMT_SMALL_MAX                                                                              \
	(UINT64_C(1) << 20) /* cudaMalloc blocks up to 1 MiB share pages (measured)                \
			     */

/* An allocation that succeeded. */
struct gmt_event {
	uint64_t addr;	/* of an array: its handle, a pointer of the host */
	uint64_t bytes; /* as requested; pitched: pitch x height; an array: estimated */
	uint64_t time_ns;
	uint64_t pool;	/* pool handle for kind POOL; 0: the device's current pool */
	uint32_t stack; /* stack id; 0: no stack */
	uint16_t api;
	uint8_t kind;	  /* enum gmt_kind */
	uint8_t route;	  /* enum gmt_route */
	int32_t device;	  /* ordinal, or GMT_NO_DEVICE */
	uint32_t context; /* number of the context that owns it; 0: none, or not known */
};

/* A frame is an address inside a module; a return address is kept as it was found on the stack. */
struct gmt_frame {
	uint64_t offset; /* from the module's load base: the address in its ELF file */
	uint32_t module; /* module id; 0: no module holds it (JIT code), offset is the address */
	uint32_t reserved;
};

/* What happened to a live block besides being allocated. */
enum gmt_block_state {
	GMT_BLOCK_LIVE,
	/* Freed by the program, refused because the driver was shutting down: not a leak. */
	GMT_BLOCK_TEARDOWN,
	/* Reclaimed with its context: gone from the device, never freed by the program: a leak. */
	GMT_BLOCK_RESET,
};

enum gmt_error_kind {
	GMT_ERROR_DOUBLE_FREE,
	GMT_ERROR_UNKNOWN_FREE,
	GMT_ERROR_WRONG_FAMILY,
	GMT_ERROR_WRONG_DEVICE,
	GMT_ERROR_INTERIOR_FREE,
	GMT_ERROR_FAILED_FREE,
	GMT_ERROR_OOM,
	GMT_NR_ERRORS
};
#define GMT_ERROR_NAMES                                                                            \
	"double_free", "unknown_free", "wrong_family", "wrong_device", "interior_free",            \
		"failed_free", "oom"

/* ended, in struct gmt_process */
enum gmt_ended {
	GMT_ENDED_EXIT,
	GMT_ENDED__EXIT,
	GMT_ENDED_SIGNAL,
	GMT_ENDED_KILLED,
	GMT_ENDED_EXEC,
	GMT_ENDED_RUNNING,
	GMT_NR_ENDED
};
#define GMT_ENDED_NAMES "exit", "_exit", "signal", "killed", "exec", "running"

/* State of CUPTI, for coverage. */
enum gmt_cupti { GMT_CUPTI_OFF, GMT_CUPTI_ON, GMT_CUPTI_BUSY, GMT_CUPTI_ABSENT, GMT_NR_CUPTI };
#define GMT_CUPTI_NAMES "off", "on", "busy", "absent"

enum gmt_kernels_mode { GMT_KERNELS_OFF, GMT_KERNELS_ARGS, GMT_KERNELS_CUPTI };

/* Gates of fail_on, one bit each. */
enum gmt_gate_bit {
	GMT_GATE_LEAK = 1 << 0,
	GMT_GATE_LOST = 1 << 1,
	GMT_GATE_GROWTH = 1 << 2,
	GMT_GATE_HANDLE = 1 << 3,
	GMT_GATE_BADFREE = 1 << 4,
	GMT_GATE_OOM = 1 << 5,
	GMT_GATE_POOL = 1 << 6,
	GMT_GATE_PEAK = 1 << 7,
	GMT_GATE_REGRESSION = 1 << 8,
	GMT_GATE_NOCUDA = 1 << 9,
	GMT_GATE_ALL = (1 << 10) - 1,
};
#define GMT_GATE_NAMES                                                                             \
	"leak", "lost", "growth", "handle", "badfree", "oom", "pool", "peak", "regression", "nocuda"
/* What this version can judge; asking for another gate is answered with status 24. */
#define GMT_GATES_JUDGED (GMT_GATE_LEAK | GMT_GATE_BADFREE | GMT_GATE_PEAK | GMT_GATE_NOCUDA)

/* Facts about the process, as numbers; its strings are in struct gmt_ledger. */
struct gmt_process {
	uint64_t start_unix_ns;
	uint64_t end_ns; /* duration */
	int32_t pid, ppid;
	int32_t status;	    /* exit status or signal number */
	int32_t rank;	    /* -1: none */
	uint32_t ended;	    /* enum gmt_ended */
	uint32_t cuda_used; /* cuInit succeeded, or an entry of the table was called */
	uint32_t forked;    /* a child without exec: its status stays its own */
	uint32_t reserved;
};

/* The options that the report obeys. */
struct gmt_settings {
	uint64_t max_peak; /* UINT64_MAX: off */
	uint64_t min_leak_bytes;
	uint64_t min_leak_blocks;
	uint32_t fail_on; /* enum gmt_gate_bit */
	uint32_t exitcode;
	uint32_t require_cuda;
	uint32_t kernels;     /* enum gmt_kernels_mode */
	uint32_t stacks;      /* whether stacks were captured */
	uint32_t stack_depth; /* frames shown, without the runtime's; 0: all */
};

/* Numbers about a device that do not change. */
struct gmt_device_facts {
	int32_t ordinal;
	uint32_t mig;
	uint64_t total_bytes;
	uint8_t uuid[16];
};

/* The driver's own figures of one instant: the last at which it was alive. */
struct gmt_device_sample {
	uint64_t time_ns;
	uint64_t free_bytes;
	uint64_t total_bytes;
	int32_t ordinal;
	uint32_t valid;
};

struct gmt_pool_sample {
	uint64_t time_ns;
	uint64_t handle; /* as the driver names it */
	uint64_t pool;	 /* as events name it: 0 for the device's current pool */
	uint64_t reserved_bytes, reserved_peak;
	uint64_t used_bytes, used_peak;
	int32_t device;
	uint32_t valid;
};

/* What the program `gmtrace` answers the process that is ending, over a socket. */
#define GMT_OUTCOME_MAGIC 0x656d6f6374756f67u
enum gmt_outcome_step {
	GMT_OUTCOME_WRITING, /* all risky work is done; output begins: write no report yourself */
	GMT_OUTCOME_DONE,    /* exit_code is the verdict's */
};
struct gmt_outcome {
	uint64_t magic;
	uint32_t step;	   /* enum gmt_outcome_step */
	int32_t exit_code; /* 0: the gate passed or is off */
};

#endif
