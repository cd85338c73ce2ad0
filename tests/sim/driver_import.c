/*
 * Imported memory. All device memory here is pieces of shared files, so importing is mapping a
 * piece again: in this process, or in another one that may look into ours through /proc.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver_import.h"

#define MAGIC 0x676d7473696d6d65u /* "gmtsimme" */

static struct sim_import *imports;

static const struct sim_space *space_of(const struct sim_range *range)
{
	if (range->kind == SIM_KIND_POOL)
		return &range->pool->chunks.space;
	if (sim_space_holds(&range->device->low_space, (void *)range->base))
		return &range->device->low_space;
	return &range->device->space;
}

bool sim_piece_of(const struct sim_range *range, struct sim_piece *piece)
{
	const struct sim_space *space;

	if (range->kind != SIM_KIND_DEVICE && range->kind != SIM_KIND_POOL)
		return false;
	space = space_of(range);
	*piece = (struct sim_piece){ .magic = MAGIC,
				     .pid = getpid(),
				     .fd = space->fd,
				     .device = range->device->ordinal,
				     .offset = range->base - (uintptr_t)space->mapping,
				     .bytes = range->bytes };
	return true;
}

bool sim_piece_is_valid(const struct sim_piece *piece)
{
	return piece->magic == MAGIC && sim_device(piece->device);
}

static bool map(struct sim_import *import)
{
	const struct sim_piece *piece = &import->piece;
	size_t shift = piece->offset % (size_t)sysconf(_SC_PAGESIZE);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", piece->pid, piece->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	import->mapped_bytes = piece->bytes + shift;
	import->mapping = mmap(NULL, import->mapped_bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_NORESERVE, fd, (off_t)(piece->offset - shift));
	close(fd);
	import->base = (uintptr_t)import->mapping + shift;
	return import->mapping != MAP_FAILED;
}

CUresult sim_import_add(enum sim_import_kind kind, const struct sim_piece *piece,
			struct sim_context *context, CUdeviceptr *addr)
{
	struct sim_range range = { .kind = SIM_KIND_IMPORTED,
				   .bytes = piece->bytes,
				   .device = sim_device(piece->device),
				   .context = context };
	struct sim_import *import = calloc(1, sizeof(*import));

	if (!import)
		return CUDA_ERROR_OUT_OF_MEMORY;
	import->kind = kind;
	import->piece = *piece;
	import->context = context;
	import->users = 1;
	if (!map(import)) {
		free(import);
		return CUDA_ERROR_INVALID_VALUE;
	}
	range.base = import->base;
	range.import = import;
	if (!sim_range_add(&range)) {
		munmap(import->mapping, import->mapped_bytes);
		free(import);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	import->next = imports;
	imports = import;
	sim_stat_alloc(range.device, SIM_KIND_IMPORTED, range.bytes);
	*addr = range.base;
	return CUDA_SUCCESS;
}

struct sim_import *sim_import_find(const struct sim_piece *piece, const struct sim_context *context)
{
	struct sim_import *import = imports;

	while (import && (import->context != context || import->kind != SIM_IMPORT_IPC ||
			  memcmp(&import->piece, piece, sizeof(*piece)) != 0))
		import = import->next;
	return import;
}

void sim_import_unmap(struct sim_import *import)
{
	struct sim_import **link = &imports;

	while (*link != import)
		link = &(*link)->next;
	*link = import->next;
	munmap(import->mapping, import->mapped_bytes);
	free(import);
}

CUresult sim_import_free(struct sim_range *range, bool async)
{
	enum sim_import_kind kind = range->import->kind;

	if (kind == SIM_IMPORT_IPC || (kind == SIM_IMPORT_EXTERNAL && async))
		return CUDA_ERROR_INVALID_VALUE;
	sim_import_unmap(range->import);
	sim_stat_free(range->device, SIM_KIND_IMPORTED, range->bytes);
	sim_range_remove(range);
	return CUDA_SUCCESS;
}
