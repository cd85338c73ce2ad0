/*
 * What a simulated device executes: code, kernels, copies, and the streams and graphs that order
 * them. A part of driver.h.
 */
#ifndef GMT_TESTS_SIM_DRIVER_WORK_H
#define GMT_TESTS_SIM_DRIVER_WORK_H

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
void sim_deps_remove(struct sim_node *node, const struct sim_node *dep);

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
bool sim_graph_has_node(const struct sim_graph *graph, const void *handle);
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

#endif
