/*
 * The ledger: a pure state machine over events. No CUDA, no unwinder, no I/O, no lock of its own.
 *
 * In the traced process record.c feeds it under its one mutex; offline the reader of a trace feeds
 * it the same rows. The report only reads it. All memory comes from the arena that the ledger was
 * made with and is given back with it.
 *
 * A function that returns false had no memory; the caller counts the loss.
 *
 *      hash by base address            sites (one per stack, api, kind, device)
 *   addr ──► struct gmt_block ─────────► struct gmt_site ── live, total, at three moments
 *               │    ▲
 *               ▼    │ any address inside
 *            pages.c: 2 MiB page radix ── how full each page is, which blocks pin it
 */
#ifndef GMT_PRELOAD_LEDGER_H
#define GMT_PRELOAD_LEDGER_H

#include "preload/event.h"

struct gmt_arena;
struct gmt_block;
struct gmt_pages;

/* A quantity that rises and falls, and its first highest moment. */
struct gmt_scope {
	uint64_t live_bytes, live_blocks;
	uint64_t peak_bytes, peak_blocks;
	uint64_t peak_time_ns;
	uint64_t generation; /* number of new maxima so far */
};

/*
 * The moments at which every site's share is known exactly. A site copies its live figures the
 * first time it changes after a new maximum; a site that has not changed since still has them.
 */
enum gmt_moment {
	GMT_MOMENT_DEVICE_PEAK,	 /* the highest moment of the site's device */
	GMT_MOMENT_PROCESS_PEAK, /* the highest moment of all devices together */
	GMT_MOMENT_WORST_PINNED, /* the moment at which most of the device's bytes were pinned */
	GMT_NR_MOMENTS
};

struct gmt_share {
	uint64_t bytes, blocks;
	uint64_t generation;
};

#define GMT_LIFETIME_BUCKETS 64 /* bucket n holds lifetimes of [2^n, 2^(n+1)) ns */

/* One call site: the raw stack, what was called, what was got, where. */
struct gmt_site {
	uint32_t id; /* from 1, in order of first allocation */
	uint32_t stack;
	uint16_t api;
	uint8_t kind;
	uint8_t reserved;
	int32_t device;

	uint64_t allocations, frees;
	uint64_t live_bytes, live_blocks;
	uint64_t peak_bytes; /* the site's own highest live_bytes */
	uint64_t total_bytes;
	uint64_t teardown_bytes,
		teardown_blocks;	      /* part of live: freed while the driver shut down */
	uint64_t reset_bytes, reset_blocks;   /* not part of live: reclaimed with their context */
	uint64_t small_bytes, small_blocks;   /* part of live: blocks that share 2 MiB pages */
	uint64_t first_time_ns, last_time_ns; /* of its allocations */
	struct gmt_share at[GMT_NR_MOMENTS];
	uint32_t lifetimes[GMT_LIFETIME_BUCKETS];
};

struct gmt_kind_totals {
	uint64_t allocations, frees;
	uint64_t live_bytes, live_blocks;
	uint64_t peak_bytes;
};

/*
 * Pages of one device that small blocks share. pinned = pages x 2 MiB - the small blocks' bytes:
 * what the driver holds and nobody asked for.
 */
struct gmt_page_totals {
	uint64_t small_pages, small_bytes, small_blocks;
	uint64_t rounding_bytes; /* blocks over 1 MiB, rounded up to 2 MiB */
	uint64_t worst_pinned, worst_pages, worst_small_bytes;
	uint64_t worst_time_ns;
	uint64_t generation; /* number of new maxima of pinned */
};

struct gmt_device {
	struct gmt_device_facts facts;
	struct gmt_device_sample sample; /* valid = 0: none was taken */
	struct gmt_scope scope;
	struct gmt_page_totals pages;
	const char *name; /* NULL: unknown */
	bool seen;	  /* a fact, a sample or a block names it */
};

struct gmt_pool {
	uint64_t pool; /* as events name it: 0 for the device's current pool */
	int32_t device;
	uint64_t used_bytes, used_peak; /* the ledger's own count */
	struct gmt_pool_sample sample;
	struct gmt_pool *next; /* in order of first use */
};

struct gmt_module {
	uint32_t id; /* from 1 */
	uint64_t base;
	uint64_t bytes; /* extent of its mapping */
	const char *path;
	uint8_t build_id[32];
	uint32_t build_id_bytes; /* 0: none */
	uint64_t runtime_lo; /* offset of code known to belong to a static CUDA runtime; 0: none */
};

struct gmt_stack {
	uint32_t id; /* from 1 */
	uint32_t nr_frames;
	const struct gmt_frame *frames; /* innermost first, gmtrace's own frames taken off */
};

/* Bytes and blocks of one site that were passed to one kernel, each block counted once. */
struct gmt_kernel_site {
	uint32_t site;
	uint64_t bytes, blocks;
	struct gmt_kernel_site *next;
};

#define GMT_KERNEL_STREAMS 8

struct gmt_kernel {
	uint32_t id; /* from 1 */
	int32_t device;
	const char *name;     /* mangled */
	uint64_t launches;    /* seen by our hooks */
	uint64_t records;     /* seen by CUPTI */
	uint64_t gpu_time_ns; /* CUPTI */
	uint64_t bytes_referenced;
	uint64_t streams[GMT_KERNEL_STREAMS]; /* handles (hooks), or ids (CUPTI) when no launch was
						 seen */
	uint32_t nr_streams; /* may be more than fit: then only counted up to the limit + 1 */
	struct gmt_kernel_site *sites;
	struct gmt_kernel *next; /* in order of id */
};

/* The names behind an api id. */
struct gmt_api_names {
	const char *abi;     /* "cuMemAlloc_v2" */
	const char *runtime; /* "cudaMalloc", or NULL */
};

/* A call that was a mistake, counted by where it was made and what it was about. */
struct gmt_error {
	uint64_t address, time_ns; /* of the first */
	uint64_t count;
	uint32_t stack, alloc_stack; /* 0: unknown */
	uint16_t api;
	uint8_t kind; /* enum gmt_error_kind */
	struct gmt_error *next;
};

/* Where a freed block had come from, to tell a second free from one of an unknown address. */
struct gmt_recent {
	uint64_t addr;
	uint32_t stack;
};

#define GMT_RECENT_FREES 4096

/* Address space, in bytes, of all devices. Handles stand in kinds. */
struct gmt_vmm_totals {
	uint64_t mappings, mapped_bytes; /* a handle mapped twice counts twice */
	uint64_t reservations, reserved_bytes;
};

/* What is wrong with a handle of physical memory that is still live. */
enum gmt_handle_state {
	GMT_HANDLE_NONE, /* not a handle */
	GMT_HANDLE_UNRELEASED_UNMAPPED,
	GMT_HANDLE_UNRELEASED_MAPPED,
	GMT_HANDLE_RELEASED_MAPPED,
	GMT_HANDLE_RETAINED, /* released, but retained more often */
	GMT_NR_HANDLE_STATES
};
#define GMT_HANDLE_STATE_WORDS                                                                     \
	"", "never released, not mapped", "never released, still mapped",                          \
		"released but still mapped", "retained more often than released"

struct gmt_handle_view {
	enum gmt_handle_state state;
	uint32_t references, releases, mappings;
};

struct gmt_note {
	const char *text;
	struct gmt_note *next;
};

#define GMT_MAX_APIS	 1024
#define GMT_MAX_COUNTERS 64

struct gmt_ledger {
	struct gmt_arena *arena;
	struct gmt_block *blocks; /* uthash head; walk with gmt_ledger_each_block */
	struct gmt_block *reclaimed, **reclaimed_end; /* gone with their context, in order */
	struct gmt_pages *pages;
	uint64_t next_seq;

	/* Virtual memory management, of ledger_vmm.c. A dead handle's value is given out again. */
	struct gmt_block *handles;			  /* uthash head, by the handle's value */
	struct gmt_block *handle_list, **handle_list_end; /* live ones, in order of creation */
	struct gmt_block *mappings;			  /* uthash head, by first address */
	struct gmt_reservation *reservations;		  /* uthash head */
	struct gmt_vmm_totals vmm;

	struct gmt_site **sites; /* sites[0 .. nr_sites-1], id = index + 1 */
	uint32_t nr_sites, sites_room;
	struct gmt_site_key *site_index; /* uthash head */

	struct gmt_kind_totals kinds[GMT_NR_KINDS];
	struct gmt_device devices[GMT_MAX_DEVICES];
	struct gmt_scope process_scope; /* device + pool + array + vmm + graph, all devices */
	struct gmt_pool *pools;
	uint64_t failed_allocations;
	uint64_t routes[GMT_NR_ROUTES];

	struct gmt_module **modules; /* id = index + 1 */
	uint32_t nr_modules, modules_room;
	struct gmt_stack **stacks; /* id = index + 1; NULL where an id is missing */
	uint32_t nr_stacks, stacks_room;
	struct gmt_kernel *kernels;	  /* list, in order of id */
	struct gmt_kernel **kernel_by_id; /* id = index + 1 */
	uint32_t nr_kernels, kernels_room;

	struct gmt_error *errors; /* in order of first occurrence */
	uint32_t nr_errors;
	struct gmt_recent *recent; /* by hash of the address */

	struct gmt_process process;
	struct gmt_settings settings;
	const char *exe, *host, *version; /* version: of the recorder */
	const char **argv;		  /* NULL-terminated; NULL: unknown */
	uint32_t argc;
	const char *report_path,
		*json_path; /* expanded; "stderr", "none" or a path; json NULL: off */

	struct gmt_api_names apis[GMT_MAX_APIS];
	struct {
		const char *name, *text;
		uint64_t value;
	} counters[GMT_MAX_COUNTERS]; /* name NULL ends the list */
	uint32_t cupti;		      /* enum gmt_cupti */
	const char **passed_through;  /* names looked up and not hooked */
	uint32_t nr_passed_through;
	struct gmt_note *notes; /* coverage notes, in order */

	/* self-accounting, filled in when the report is taken */
	uint64_t hook_calls, hook_ns, host_bytes, trace_bytes;
};

/* Memory of the ledger comes from arena, which the caller destroys after the ledger's last use. */
struct gmt_ledger *gmt_ledger_new(struct gmt_arena *arena);

/*
 * Records an allocation. replaced is set when a live block had the same address: its free went
 * unseen, and it is taken as freed now.
 */
bool gmt_ledger_alloc(struct gmt_ledger *ledger, const struct gmt_event *event, bool *replaced);

/* What a claim needs to be given back: the freed block's figures, by value. */
struct gmt_claim {
	struct gmt_event event; /* as it was allocated */
	uint64_t seq;
	uint64_t freed_ns;
	uint32_t site;
	uint32_t claimed; /* 0: the address was not known */
	void *uses; /* the kernels it was passed to; back in the block, or dropped, never lost */
};

/*
 * Takes the block at addr out, as freed at time_ns. False: no block begins there; claim->claimed
 * is then 0.
 */
bool gmt_ledger_free(struct gmt_ledger *ledger, uint64_t addr, uint64_t time_ns,
		     struct gmt_claim *claim);

/* The driver refused the free: puts the block back as it was, in the given state. */
bool gmt_ledger_unfree(struct gmt_ledger *ledger, const struct gmt_claim *claim,
		       enum gmt_block_state state);

/* The free took place: releases what the claim held. */
void gmt_ledger_freed(struct gmt_ledger *ledger, struct gmt_claim *claim);

/*
 * The driver refused a free: event has its address, time, api and stack; claim is what was claimed
 * for it, given back already. wrong_family: the block is of another family than the call frees.
 * False: no memory, or too many different errors.
 */
bool gmt_ledger_bad_free(struct gmt_ledger *ledger, const struct gmt_event *event,
			 const struct gmt_claim *claim, bool wrong_family);

/* The error of this kind, api and stacks, made if there is none (with count 0). NULL: no room. */
struct gmt_error *gmt_ledger_error(struct gmt_ledger *ledger, const struct gmt_error *row);

/*
 * A context is gone: its linear, pinned and array memory went with it. Stream-ordered memory and
 * VMM handles belong to pools and to the process, and outlive it (cuda.h, cuCtxDestroy). Returns
 * how many blocks were reclaimed.
 */
uint64_t gmt_ledger_reclaim(struct gmt_ledger *ledger, uint32_t context, uint64_t time_ns);

/* Which live block holds this address (any byte of it)? NULL: none. */
struct gmt_block *gmt_ledger_find(const struct gmt_ledger *ledger, uint64_t addr);

/* A live block, as the report sees it. */
struct gmt_block_view {
	uint64_t addr, bytes, time_ns, seq;
	const struct gmt_site *site;
	uint64_t pool;
	enum gmt_block_state state;
	struct gmt_handle_view handle; /* state GMT_HANDLE_NONE: none */
};
/*
 * Calls visit for each live block in order of allocation, then for each live handle of physical
 * memory, then for each reclaimed block.
 */
void gmt_ledger_each_block(const struct gmt_ledger *ledger,
			   bool (*visit)(const struct gmt_block_view *block, void *data),
			   void *data);

/* The site's bytes and blocks at one of the moments; exact. */
struct gmt_share gmt_ledger_share(const struct gmt_ledger *ledger, const struct gmt_site *site,
				  enum gmt_moment moment);

/* Device memory, which devices and the process are measured by; the others stand only in kinds. */
bool gmt_kind_on_device(enum gmt_kind kind);

/* Facts. Strings are copied. */
bool gmt_ledger_add_module(struct gmt_ledger *ledger, const struct gmt_module *module);
bool gmt_ledger_add_stack(struct gmt_ledger *ledger, uint32_t id, const struct gmt_frame *frames,
			  uint32_t nr_frames);
bool gmt_ledger_set_device(struct gmt_ledger *ledger, const struct gmt_device_facts *facts,
			   const char *name);
void gmt_ledger_sample_device(struct gmt_ledger *ledger, const struct gmt_device_sample *sample);
bool gmt_ledger_sample_pool(struct gmt_ledger *ledger, const struct gmt_pool_sample *sample);
bool gmt_ledger_note(struct gmt_ledger *ledger, const char *text); /* the same text only once */
const char *gmt_ledger_string(struct gmt_ledger *ledger, const char *text); /* a copy, or NULL */
/* Appends a copy of text to one of the ledger's lists (argv, passed_through), NULL-terminated. */
bool gmt_ledger_push_name(struct gmt_ledger *ledger, const char ***names, uint32_t *count,
			  uint32_t *room, const char *text);

/*
 * Kernels. The id stands for (name, device); 0: no memory. A launch names the addresses it was
 * passed; those that lie in a live block make a use, once per block and kernel. stream is a handle.
 */
uint32_t gmt_ledger_kernel(struct gmt_ledger *ledger, const char *name, int32_t device);
bool gmt_ledger_launch(struct gmt_ledger *ledger, uint32_t kernel, uint64_t stream,
		       const uint64_t *addrs, uint32_t nr_addrs);
void gmt_ledger_kernel_time(struct gmt_ledger *ledger, uint32_t kernel, uint64_t stream,
			    uint64_t gpu_ns, uint64_t records);

/* For the reader of a trace: rows put back as they were written. */
bool gmt_ledger_put_site(struct gmt_ledger *ledger, const struct gmt_site *row);
bool gmt_ledger_put_block(struct gmt_ledger *ledger, uint32_t site, uint64_t addr, uint64_t bytes,
			  uint64_t time_ns, uint64_t seq, uint64_t pool,
			  enum gmt_block_state state);
bool gmt_ledger_put_handle(struct gmt_ledger *ledger, const struct gmt_event *event, uint32_t site,
			   uint64_t seq, enum gmt_block_state state,
			   const struct gmt_handle_view *view);
bool gmt_ledger_put_pool(struct gmt_ledger *ledger, const struct gmt_pool_sample *sample,
			 uint64_t pool, int32_t device, uint64_t used_bytes, uint64_t used_peak);
bool gmt_ledger_put_kernel(struct gmt_ledger *ledger, const struct gmt_kernel *row);

#endif
