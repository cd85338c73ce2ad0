/*
 * The simulated CUDA driver, inside: what its files share. Nothing here is seen by programs.
 *
 * One mutex guards everything. An exported entry is written with SIM_API(); the macro reports the
 * call to the tool, injects faults, takes the mutex, runs the body and lets go again, so a body
 * always runs locked. A body that calls out (a host function, the tool, a sleep) unlocks around it.
 *
 *	entry ──> sim_enter ──> tool->enter, GMTSIM_SLOW, lock, GMTSIM_FAULT
 *	            body
 *	          sim_leave ──> unlock, tool->exit
 *
 * Device memory is counted and backed separately. A device has `total` bytes, and whoever takes
 * some of them calls sim_charge. Addresses come from a space of 2 MiB pages (struct sim_space)
 * that is several times larger than the memory, so address holes never make an allocation fail.
 */
#ifndef GMT_TESTS_SIM_DRIVER_H
#define GMT_TESTS_SIM_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The v1 prototypes are wanted beside the _v2 ones, and no name is to be a macro. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <generated_cuda_meta.h>

#include "sim.h"

#define SIM_VERSION    13000
#define SIM_MAX_DEVICE 16
#define SIM_PAGE       ((size_t)2 << 20) /* physical page of the real driver */
#define SIM_SMALL_MAX  ((size_t)1 << 20) /* blocks up to this size share pages */
#define SIM_GRANULE    ((size_t)512)
#define SIM_POOL_CHUNK ((size_t)32 << 20)
#define SIM_PITCH      ((size_t)512)
/* Measured: a context's first stream is free, then four share a page; they are never given back. */
#define SIM_STREAMS_PER_PAGE 4

/* 132 multiprocessors of 2048 threads: 1 KiB more of stack costs 264 MiB, as on an H200. */
#define SIM_MULTIPROCESSORS 132
#define SIM_SM_THREADS	    2048
#define SIM_STACK_DEFAULT   ((size_t)1024)

/* ---- configuration (driver_config.c): read from the environment at the first call ---- */

struct sim_config {
	unsigned int devices;
	uint64_t memory, context_bytes, module_bytes, kernel_ns;
	uint64_t oom_at; /* 0: never */
	bool deinit;
	const char *stats; /* path, or NULL */
};

const struct sim_config *sim_config(void);
/* The code that GMTSIM_FAULT wants this call to fail with, or CUDA_SUCCESS. Counts the call. */
CUresult sim_fault(const char *name);
unsigned int sim_slow_us(const char *name);

/* ---- handles (driver_object.c): a handle is the object's address, looked up before use ---- */

enum sim_type {
	SIM_CONTEXT = 1,
	SIM_STREAM,
	SIM_EVENT,
	SIM_MODULE,
	SIM_FUNCTION,
	SIM_LIBRARY,
	SIM_KERNEL,
	SIM_POOL,
	SIM_ARRAY,
	SIM_MIPMAP,
	SIM_TEXTURE,
	SIM_SURFACE,
	SIM_PHYSICAL,
	SIM_GRAPH,
	SIM_NODE,
	SIM_EXEC,
	SIM_USER_OBJECT,
	SIM_LINK,
	SIM_EXTERNAL_MEMORY,
	SIM_EXTERNAL_SEMAPHORE,
	SIM_IMPORTED_POOL,
};

struct sim_context;

struct sim_object {
	enum sim_type type;
	struct sim_context *context; /* destroyed with it; NULL: belongs to none */
	struct sim_object *next;
};

/* Zeroed and registered, or NULL. */
void *sim_object_new(size_t bytes, enum sim_type type, struct sim_context *context);
void *sim_object_find(const void *handle, enum sim_type type);
/* Unregisters and frees. */
void sim_object_free(void *object);
/* Unregisters only: for objects whose memory must stay (contexts). */
void sim_object_retire(void *object);
/* Any object of the context and type, or NULL: to destroy them one by one. */
void *sim_object_any(enum sim_type type, const struct sim_context *context);

void sim_object_each(enum sim_type type, void (*visit)(void *object, void *closure), void *closure);

#define SIM_FIND(var, kind, handle, type) struct kind *var = sim_object_find((handle), (type))

/* ---- address space and heaps (driver_space.c) ---- */

/* Pages of 2 MiB, lowest first; readable and writable only while taken. */
struct sim_space {
	char *base, *mapping; /* mapping: where byte 0 of fd is */
	size_t pages, lowest;
	unsigned char *taken;
	int fd; /* shared memory behind it, so that it can be mapped again */
};

/* low: below 4 GiB, and of a size of its own. */
bool sim_space_open(struct sim_space *space, uint64_t bytes, bool low);
void sim_space_close(struct sim_space *space);
void *sim_space_take(struct sim_space *space, size_t pages);
void sim_space_give(struct sim_space *space, void *addr, size_t pages);
bool sim_space_holds(const struct sim_space *space, const void *addr);

#define SIM_PAGE_GRANULES (SIM_PAGE / SIM_GRANULE)

struct sim_slab {
	struct sim_slab *next;
	char *base;
	size_t used;	 /* granules */
	size_t fails_at; /* no free run of this many granules */
	uint64_t bits[SIM_PAGE_GRANULES / 64];
};

/* Small blocks of 512-byte granules, first fit, out of pages that are charged to the device. */
struct sim_heap {
	struct sim_device *device;
	struct sim_space *space;
	struct sim_slab *slabs; /* by address */
};

void *sim_heap_take(struct sim_heap *heap, size_t bytes);
void sim_heap_give(struct sim_heap *heap, void *addr, size_t bytes);

/* ---- chunked heaps (driver_chunks.c): the memory of pools and of graphs ---- */

/*
 * One long range of addresses; 32 MiB chunks of it have memory while blocks are bound there, and
 * after that until a trim. A block may lie across chunks.
 *
 *	chunks   |   memory    |   memory    |             |
 *	blocks   [a  ][b              ][c ]
 */
struct sim_chunks {
	struct sim_device *device;
	struct sim_space space;
	uint64_t *bits;	       /* one a granule: placed */
	unsigned int *users;   /* for each chunk: blocks that are bound there */
	unsigned char *backed; /* for each chunk */
	size_t granules, reserved, reserved_high, used, used_high;
};

bool sim_chunks_open(struct sim_chunks *chunks, struct sim_device *device);
void sim_chunks_close(struct sim_chunks *chunks);
/* Addresses, first fit, where there is memory already if possible. */
void *sim_chunks_place(struct sim_chunks *chunks, size_t bytes);
void sim_chunks_unplace(struct sim_chunks *chunks, void *addr, size_t bytes);
/* Memory for a placed block; false: the device has no more. */
bool sim_chunks_bind(struct sim_chunks *chunks, void *addr, size_t bytes);
void sim_chunks_unbind(struct sim_chunks *chunks, void *addr, size_t bytes);
/* Gives back chunks that nobody uses, until no more than `keep` is left. */
void sim_chunks_trim(struct sim_chunks *chunks, size_t keep);

/* First run of `count` clear bits in [from, to), or `to`. */
size_t sim_bits_run(const uint64_t *bits, size_t from, size_t to, size_t count);
void sim_bits_set(uint64_t *bits, size_t first, size_t count, bool value);

static inline size_t sim_round(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* ---- devices (driver_device.c) ---- */

struct sim_pool;
struct sim_graph_block;

struct sim_device {
	int ordinal;
	uint64_t total, used;
	struct sim_space space, low_space; /* low: what a 32-bit address of the v1 calls can name */
	struct sim_heap small, low_small;
	struct sim_context *primary;
	unsigned int primary_refs, primary_flags;
	struct sim_pool *default_pool, *current_pool, *pools;
	struct sim_graph_block *graph_blocks;
	struct sim_chunks graph_chunks;
	int physical_fd;
	uint64_t physical_next; /* where the next VMM handle lives in physical_fd */
};

bool sim_devices_open(void);
struct sim_device *sim_device(CUdevice ordinal);
bool sim_charge(struct sim_device *device, uint64_t bytes);
void sim_uncharge(struct sim_device *device, uint64_t bytes);
/* GMTSIM_OOM_AT says that an allocation of this size fails. */
bool sim_oom_injected(uint64_t bytes);

/* ---- contexts (driver_context.c) ---- */

struct sim_context {
	struct sim_object object;
	struct sim_device *device;
	struct sim_stream *legacy, *per_thread; /* per_thread: list, one for each thread */
	struct sim_context *next;		/* all there ever were */
	bool alive, primary;
	unsigned int flags, api_version, id, refs;
	uint64_t charged, stack_charged, streams_charged, busy_until_ns;
	unsigned int nr_streams; /* that exist now */
	size_t limits[CU_LIMIT_MAX];
	uint32_t peers; /* bit for each device it may reach */
};

CUresult sim_current(struct sim_context **ctx);
struct sim_context *sim_context(CUcontext handle);
struct sim_context *sim_top(void);

/* Declares ctx, the calling thread's current context, or leaves with 201 or 709. */
#define SIM_CURRENT(ctx)                                                                           \
	struct sim_context *ctx;                                                                   \
	do {                                                                                       \
		CUresult current_rc = sim_current(&ctx);                                           \
		if (current_rc != CUDA_SUCCESS)                                                    \
			return current_rc;                                                         \
	} while (0)

/* ---- ranges (driver_range.c): every address that a program was given ---- */

enum sim_kind {
	SIM_KIND_DEVICE,
	SIM_KIND_MANAGED,
	SIM_KIND_PINNED,
	SIM_KIND_REGISTERED,
	SIM_KIND_ARRAY, /* statistics only: arrays have no address */
	SIM_KIND_POOL,
	SIM_KIND_VMM,
	SIM_KIND_IMPORTED,
	SIM_KIND_GRAPH,
	SIM_NR_STATS,
	SIM_KIND_GLOBAL = SIM_NR_STATS, /* a module's variable */
};

struct sim_range {
	uintptr_t base;
	size_t bytes; /* as requested */
	enum sim_kind kind;
	struct sim_device *device;
	struct sim_context *context; /* NULL: no context's end frees it */
	struct sim_pool *pool;
	struct sim_graph_block *block;
	struct sim_import *import;
	struct sim_physical *physical; /* VMM: what is mapped here */
	bool accessible;	       /* VMM: cuMemSetAccess was called */
	unsigned int flags;
	uint64_t id;
	struct sim_range *next; /* used while collecting */
};

struct sim_range *sim_range_add(const struct sim_range *range);
struct sim_range *sim_range_find(uintptr_t addr); /* the one that holds this address */
struct sim_range *sim_range_at(uintptr_t addr, enum sim_kind kind); /* that starts here */
void sim_range_remove(struct sim_range *range);
/* All [addr, addr + bytes) may be touched. */
bool sim_range_covers(uintptr_t addr, size_t bytes);
/* A list, linked by next, of what belongs to the context. */
struct sim_range *sim_range_of(const struct sim_context *ctx);

/* ---- statistics (driver_stats.c) ---- */

void sim_stat_alloc(const struct sim_device *device, enum sim_kind kind, uint64_t bytes);
void sim_stat_free(const struct sim_device *device, enum sim_kind kind, uint64_t bytes);
/* Freed by the end of a context, not by the program. */
void sim_stat_reclaim(const struct sim_device *device, enum sim_kind kind, uint64_t bytes);
void sim_stats_write(void);

/* ---- memory families: called by others ---- */

void *sim_linear_take(struct sim_device *device, size_t bytes, bool low);
void sim_linear_give(struct sim_device *device, void *addr, size_t bytes);
void sim_range_reclaim(struct sim_range *range); /* at the end of its context */

/* The mapping only; and, of what a free may end, all of it. */
void sim_import_unmap(struct sim_import *import);
CUresult sim_import_free(struct sim_range *range, bool async);

struct sim_pool {
	struct sim_object object;
	struct sim_chunks chunks;
	struct sim_device *device;
	struct sim_pool *next;
	CUmemPoolProps props;
	uint64_t threshold;
	unsigned int live;
	int reuse[3];
	bool zombie; /* destroyed with blocks still live */
};

bool sim_pools_open(struct sim_device *device);
void sim_pool_free(struct sim_range *range);
/* A synchronisation gives idle chunks above the release threshold back. */
void sim_pools_settle(struct sim_device *device);

struct sim_array {
	struct sim_object object;
	struct sim_device *device;
	CUDA_ARRAY3D_DESCRIPTOR desc;
	void *memory;
	size_t bytes, row, slice;  /* requested; of one row; of one layer */
	struct sim_mipmap *mipmap; /* a level of it: not to be destroyed */
};

void sim_external_destroy(void *memory);
void sim_link_destroy(void *link);
void sim_array_destroy(struct sim_array *array, bool reclaim);
void sim_mipmap_destroy(struct sim_mipmap *mipmap, bool reclaim);

/* ---- code (driver_image.c, driver_cubin.c, driver_ptx.c, driver_module.c) ---- */

typedef void (*sim_host_kernel)(void **params);

struct sim_param {
	uint32_t offset, size;
};

struct sim_entry { /* a kernel as its image describes it */
	struct sim_entry *next;
	char *name;
	bool known; /* params are valid */
	unsigned int nr_params;
	struct sim_param *params;
	uint32_t param_bytes;
};

struct sim_variable {
	struct sim_variable *next;
	char *name;
	size_t bytes, offset; /* offset in the module's memory */
};

/* Images are never freed: names and layouts stay valid after an unload, as a test may keep them. */
struct sim_image {
	struct sim_image *next;
	struct sim_entry *entries;
	struct sim_variable *variables;
	size_t variable_bytes;
	unsigned int nr_entries;
	bool opaque; /* compressed: any name is taken for a kernel of unknown layout */
};

/* limit: how much may be read; SIZE_MAX if only the code itself knows. NULL: not code. */
struct sim_image *sim_image_parse(const void *code, size_t limit);
/* For the parsers. False: out of memory. */
struct sim_entry *sim_image_entry(struct sim_image *image, const char *name, size_t length);
bool sim_image_param(struct sim_entry *entry, unsigned int index, uint32_t offset, uint32_t size);
bool sim_image_variable(struct sim_image *image, const char *name, size_t length, size_t bytes);
bool sim_cubin_parse(struct sim_image *image, const void *elf, size_t bytes);
size_t sim_cubin_bytes(const void *elf, size_t limit);
bool sim_ptx_parse(struct sim_image *image, const char *text, size_t bytes);
/* The kernel of this name, also one that only gmtsim_register_kernel knows; NULL: none. */
struct sim_entry *sim_image_kernel(struct sim_image *image, const char *name);
sim_host_kernel sim_host_kernel_of(const char *name);

struct sim_module {
	struct sim_object object;
	struct sim_image *image;
	struct sim_library *library; /* NULL: loaded by cuModuleLoad* */
	struct sim_module *next;     /* of the same library, in other contexts */
	struct sim_function *functions;
	char *memory; /* the variables, in whole pages; NULL: none */
	size_t pages;
	uint64_t charged;
};

struct sim_function {
	struct sim_object object;
	struct sim_module *module;
	struct sim_entry *entry;
	struct sim_function *next;
};

struct sim_library {
	struct sim_object object;
	struct sim_image *image;
	struct sim_module *modules; /* made when a context first needs one */
	struct sim_kernel *kernels;
};

struct sim_kernel {
	struct sim_object object;
	struct sim_library *library;
	struct sim_entry *entry;
	struct sim_kernel *next;
};

struct sim_module *sim_module_new(struct sim_context *ctx, struct sim_image *image,
				  struct sim_library *library, CUresult *rc);
void sim_module_destroy(struct sim_module *module);
struct sim_module *sim_library_module(struct sim_library *library, struct sim_context *ctx,
				      CUresult *rc);
struct sim_function *sim_module_function(struct sim_module *module, struct sim_entry *entry);
CUresult sim_entry_attribute(const struct sim_entry *entry, int *value, CUfunction_attribute a);
CUresult sim_entry_param(const struct sim_entry *entry, size_t index, size_t *offset, size_t *size);

/* ---- work (driver_work.c): what a stream executes and a graph node holds ---- */

struct sim_launch {
	struct sim_entry *entry;
	CUfunction handle; /* as given: a CUfunction or a CUkernel */
	unsigned int grid[3], block[3], shared;
	void **params; /* pointers to values; NULL if the layout is not known */
	void *values;  /* owned copy of the values, for nodes */
};

struct sim_work {
	CUgraphNodeType type;
	union {
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
		struct sim_launch launch;
		struct sim_graph *child;
		struct sim_event *event;
		struct sim_graph_block *block;
		CUdeviceptr address;
	};
};

struct sim_stream;

bool sim_launch_copy(struct sim_launch *to, const struct sim_launch *from);
CUresult sim_launch_run(const struct sim_launch *launch, struct sim_stream *stream);
/* The busy time of a stream grows to `end`. */
void sim_stream_busy(struct sim_stream *stream, uint64_t end_ns);

/* Runs now, or becomes a node if the stream is capturing. Consumes the work's owned parts. */
CUresult sim_submit(struct sim_stream *stream, struct sim_work *work);
CUresult sim_work_check(const struct sim_work *work);
CUresult sim_work_run(const struct sim_work *work, struct sim_stream *stream);
bool sim_work_copy(struct sim_work *to, const struct sim_work *from);
void sim_work_drop(struct sim_work *work);

/* ---- streams and events (driver_stream.c, driver_event.c) ---- */

struct sim_stream {
	struct sim_object object;
	struct sim_stream *next; /* per-thread streams of a context */
	unsigned int flags, id, thread;
	int priority;
	bool created; /* by the program, not one of the two default streams */
	uint64_t busy_until_ns;
	struct sim_capture *capture;
	struct sim_node **deps; /* what the next captured node follows */
	size_t nr_deps;
};

struct sim_event {
	struct sim_object object;
	unsigned int flags;
	bool recorded;
	uint64_t time_ns;
	struct sim_capture *capture; /* recorded in a capturing stream */
	struct sim_node **deps;
	size_t nr_deps;
};

CUresult sim_stream(CUstream handle, struct sim_stream **stream);
/* For work: the legacy stream may not be used while a blocking stream captures. */
CUresult sim_stream_for_work(CUstream handle, struct sim_stream **stream);
void sim_stream_destroy(struct sim_stream *stream);
void sim_event_destroy(struct sim_event *event);
uint64_t sim_now_ns(void);
/* Sleeps, unlocked, until then. */
void sim_wait_until(uint64_t time_ns);

/* ---- capture (driver_capture.c) and graphs (driver_graph*.c) ---- */

/* Never freed: events may still name a capture that has ended. */
struct sim_capture {
	struct sim_graph *graph;
	struct sim_stream *origin;
	struct sim_capture *next;
	CUstreamCaptureMode mode;
	unsigned int thread;
	bool invalid, ended, borrowed; /* borrowed: cuStreamBeginCaptureToGraph */
	uint64_t id;
};

/* CUDA_SUCCESS, or 900 if a capture forbids such calls here; the capture is then invalid. */
CUresult sim_capture_forbids(void);
/* 906, after spoiling the captures, if a blocking stream of the context captures. */
CUresult sim_capture_forbids_legacy(const struct sim_context *ctx);
CUresult sim_capture_work(struct sim_stream *stream, struct sim_work *work);
/* In capture: the address of a new allocation node. */
CUresult sim_capture_alloc(struct sim_stream *stream, struct sim_device *device, size_t bytes,
			   CUdeviceptr *addr);
void sim_capture_leave(struct sim_stream *stream);
bool sim_deps_set(struct sim_node ***deps, size_t *nr, struct sim_node *const *from, size_t count);
bool sim_deps_add(struct sim_node ***deps, size_t *nr, struct sim_node *node);

struct sim_node {
	struct sim_object object;
	struct sim_graph *graph;
	struct sim_node *next;	 /* in order of creation */
	struct sim_node *origin; /* in a clone or an exec: the node it was copied from */
	struct sim_node *twin;	 /* while copying: the copy */
	struct sim_work work;
	struct sim_node **deps;
	size_t nr_deps;
	bool disabled, visited;
};

struct sim_graph {
	struct sim_object object;
	struct sim_node *nodes, **tail;
	struct sim_user_ref *user_refs;
	struct sim_exec *exec; /* holds it, if it has memory nodes */
};

struct sim_exec {
	struct sim_object object;
	struct sim_graph *graph; /* own copy, in executable order */
	struct sim_graph *source;
	uint64_t flags;
};

struct sim_graph *sim_graph_new(void);
void sim_graph_destroy(struct sim_graph *graph);
struct sim_graph *sim_graph_copy(const struct sim_graph *graph, CUresult *rc);
bool sim_graph_sort(struct sim_graph *graph); /* false: a cycle */
bool sim_graph_has_memory(const struct sim_graph *graph);
/* Copies the work into a new node. */
CUresult sim_graph_add(struct sim_graph *graph, const CUgraphNode *deps, size_t nr_deps,
		       const struct sim_work *work, struct sim_node **out);
CUresult sim_graph_run(struct sim_graph *graph, struct sim_stream *stream);
/* Fills work->launch, with values that borrow kernelParams or are built from `extra`. */
CUresult sim_launch_set(struct sim_launch *launch, CUfunction handle, void **params, void **extra);

/* Memory of an allocation node. */
struct sim_graph_block {
	struct sim_graph_block *next;
	struct sim_device *device;
	char *addr;
	size_t bytes;
	unsigned int refs; /* nodes that own it, in graphs and execs */
	bool live;
};

struct sim_graph_block *sim_graph_block_new(struct sim_device *device, size_t bytes);
void sim_graph_block_unref(struct sim_graph_block *block);
CUresult sim_graph_block_alloc(struct sim_graph_block *block);
void sim_graph_block_free(struct sim_range *range);
struct sim_graph_block *sim_graph_block_at(CUdeviceptr addr);

void sim_user_refs_release(struct sim_graph *graph);
void sim_user_refs_copy(struct sim_graph *to, const struct sim_graph *from);

/* ---- entries (driver_main.c) ---- */

struct sim_thread {
	struct sim_context *contexts[32];
	unsigned int depth, id;
	uint32_t correlation;
	bool per_thread; /* inside a _ptsz or _ptds entry */
	CUstreamCaptureMode capture_mode;
};

extern __thread struct sim_thread sim_self;

struct sim_frame {
	struct gmtsim_call call;
	bool locked, outer_per_thread;
	uint32_t outer_correlation;
};

enum sim_frame_flags {
	SIM_PER_THREAD = 1, /* stream 0 is the thread's own */
	SIM_EARLY = 2,	    /* works before cuInit and at teardown */
};

CUresult sim_enter(struct sim_frame *frame, unsigned int flags);
CUresult sim_leave(struct sim_frame *frame, CUresult result);
void sim_lock(void);
void sim_unlock(void);
const struct gmtsim_tool *sim_tool(void);
bool sim_is_ready(void);
/* For the launch entries, which are called unlocked. NULL: not a kernel. */
const char *sim_symbol_of(CUfunction function);

#define SIM_STRIP(...) __VA_ARGS__

/* One exported entry around a body. Typed by cuda.h, so a wrong signature does not compile. */
#define SIM_ENTRY(api_, body_, flags_, kernel_, params_, args_)                                    \
	CUresult api_ params_                                                                      \
	{                                                                                          \
		api_##_params call_params = { SIM_STRIP args_ };                                   \
		struct sim_frame frame = {                                                         \
			.call = { .name = #api_, .symbol = kernel_, .params = &call_params }       \
		};                                                                                 \
		CUresult call_rc = sim_enter(&frame, flags_);                                      \
		if (call_rc == CUDA_SUCCESS)                                                       \
			call_rc = body_ args_;                                                     \
		return sim_leave(&frame, call_rc);                                                 \
	}                                                                                          \
	_Static_assert(1, "")

#define SIM_BODY(api_, params_) static CUresult do_##api_ params_

#define SIM_API(api_, params_, args_)                                                              \
	SIM_BODY(api_, params_);                                                                   \
	SIM_ENTRY(api_, do_##api_, 0, NULL, params_, args_);                                       \
	SIM_BODY(api_, params_)

#define SIM_API_EARLY(api_, params_, args_)                                                        \
	SIM_BODY(api_, params_);                                                                   \
	SIM_ENTRY(api_, do_##api_, SIM_EARLY, NULL, params_, args_);                               \
	SIM_BODY(api_, params_)

/* With its per-thread twin; suffix_ is _ptsz or _ptds. */
#define SIM_API_TWIN(api_, suffix_, params_, args_)                                                \
	SIM_BODY(api_, params_);                                                                   \
	SIM_ENTRY(api_, do_##api_, 0, NULL, params_, args_);                                       \
	SIM_ENTRY(api_##suffix_, do_##api_, SIM_PER_THREAD, NULL, params_, args_);                 \
	SIM_BODY(api_, params_)

/* The same, and launches: `f` names the kernel for the tool. */
#define SIM_API_LAUNCH(api_, suffix_, params_, args_)                                              \
	SIM_BODY(api_, params_);                                                                   \
	SIM_ENTRY(api_, do_##api_, 0, sim_symbol_of(f), params_, args_);                           \
	SIM_ENTRY(api_##suffix_, do_##api_, SIM_PER_THREAD, sim_symbol_of(f), params_, args_);     \
	SIM_BODY(api_, params_)

/* Another ABI of the same signature: shares the body of `original_`, defined in the same file. */
#define SIM_API_SAME(api_, original_, params_, args_)                                              \
	SIM_ENTRY(api_, do_##original_, 0, NULL, params_, args_)

#endif
