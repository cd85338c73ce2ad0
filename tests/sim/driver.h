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
	bool deinit, thunks, future, self_lookup;
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

/* Spaces, heaps, ranges, pools and arrays. */
#include "driver_memory.h"

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

/* Code, work, streams, events, captures and graphs. */
#include "driver_work.h"

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
