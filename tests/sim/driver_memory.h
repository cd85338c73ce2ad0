/*
 * Memory in the simulated driver: where addresses come from, what a program was given, what was
 * counted. A part of driver.h.
 */
#ifndef GMT_TESTS_SIM_DRIVER_MEMORY_H
#define GMT_TESTS_SIM_DRIVER_MEMORY_H

struct sim_device;
struct sim_context;

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
	uint64_t *bits;		 /* one a granule: placed */
	unsigned int *users;	 /* for each chunk: blocks that are bound there */
	unsigned char *backed;	 /* for each chunk */
	size_t granules, lowest; /* lowest: all before it are placed */
	size_t reserved, reserved_high, used, used_high;
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

#endif
