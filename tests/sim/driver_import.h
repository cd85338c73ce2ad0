/* Memory of someone else, mapped here: by IPC, from an external handle, or from a shared pool. */
#ifndef GMT_TESTS_SIM_DRIVER_IMPORT_H
#define GMT_TESTS_SIM_DRIVER_IMPORT_H

#include "driver.h"

enum sim_import_kind {
	SIM_IMPORT_IPC,	     /* ends with cuIpcCloseMemHandle */
	SIM_IMPORT_EXTERNAL, /* ends with cuMemFree */
	SIM_IMPORT_POOL,     /* ends with cuMemFree or cuMemFreeAsync */
};

/* A piece of a file of a process; travels in handles. */
struct sim_piece {
	uint64_t magic;
	int32_t pid, fd;
	int32_t device;
	uint32_t unused;
	uint64_t offset, bytes;
};

struct sim_import {
	struct sim_import *next;
	enum sim_import_kind kind;
	struct sim_context *context;
	struct sim_piece piece;
	void *mapping; /* starts on a page; the piece need not */
	size_t mapped_bytes;
	uintptr_t base;
	unsigned int users;
};

/* The piece of the file that backs this block of the device; false: it has none. */
bool sim_piece_of(const struct sim_range *range, struct sim_piece *piece);
bool sim_piece_is_valid(const struct sim_piece *piece);
/* Maps it, counts it as imported. context NULL: it outlives contexts. */
CUresult sim_import_add(enum sim_import_kind kind, const struct sim_piece *piece,
			struct sim_context *context, CUdeviceptr *addr);
struct sim_import *sim_import_find(const struct sim_piece *piece,
				   const struct sim_context *context);

#endif
