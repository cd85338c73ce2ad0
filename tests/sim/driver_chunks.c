/* Heaps of 32 MiB chunks, for memory pools and for the memory of graphs. See driver.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"

#define CHUNK_GRANULES (SIM_POOL_CHUNK / SIM_GRANULE)

bool sim_chunks_open(struct sim_chunks *chunks, struct sim_device *device)
{
	/* Twice the memory: holes between blocks must not make a placement fail. */
	size_t bytes = sim_round(device->total, SIM_POOL_CHUNK) * 2;

	chunks->granules = bytes / SIM_GRANULE;
	chunks->bits = calloc(chunks->granules / 64, sizeof(uint64_t));
	chunks->users = calloc(bytes / SIM_POOL_CHUNK, sizeof(chunks->users[0]));
	chunks->backed = calloc(bytes / SIM_POOL_CHUNK, 1);
	if (!chunks->bits || !chunks->users || !chunks->backed ||
	    !sim_space_open(&chunks->space, bytes, false))
		return false;
	chunks->device = device;
	return true;
}

void sim_chunks_close(struct sim_chunks *chunks)
{
	sim_space_close(&chunks->space);
	free(chunks->bits);
	free(chunks->users);
	free(chunks->backed);
}

static size_t granule_of(const struct sim_chunks *chunks, const void *addr)
{
	return (size_t)((const char *)addr - chunks->space.base) / SIM_GRANULE;
}

static size_t granules_of(size_t bytes)
{
	return sim_round(bytes, SIM_GRANULE) / SIM_GRANULE;
}

/* The first run within neighbouring chunks that have memory, or chunks->granules. */
static size_t run_in_memory(const struct sim_chunks *chunks, size_t count)
{
	size_t nr_chunks = chunks->granules / CHUNK_GRANULES;

	for (size_t from = 0, to; from < nr_chunks; from = to + 1) {
		size_t start = from * CHUNK_GRANULES, end, run;

		for (to = from; to < nr_chunks && chunks->backed[to]; to++)
			;
		end = to * CHUNK_GRANULES;
		if (start < chunks->lowest)
			start = chunks->lowest < end ? chunks->lowest : end;
		run = sim_bits_run(chunks->bits, start, end, count);
		if (run < end)
			return run;
	}
	return chunks->granules;
}

void *sim_chunks_place(struct sim_chunks *chunks, size_t bytes)
{
	size_t count = granules_of(bytes), first;

	if (bytes > chunks->granules * SIM_GRANULE)
		return NULL;
	first = run_in_memory(chunks, count);
	if (first == chunks->granules)
		first = sim_bits_run(chunks->bits, chunks->lowest, chunks->granules, count);
	if (first == chunks->granules)
		return NULL;
	sim_bits_set(chunks->bits, first, count, true);
	if (first == chunks->lowest)
		chunks->lowest += count;
	return chunks->space.base + first * SIM_GRANULE;
}

void sim_chunks_unplace(struct sim_chunks *chunks, void *addr, size_t bytes)
{
	size_t first = granule_of(chunks, addr);

	sim_bits_set(chunks->bits, first, granules_of(bytes), false);
	if (first < chunks->lowest)
		chunks->lowest = first;
}

static void uncover(struct sim_chunks *chunks, size_t chunk)
{
	char *at = chunks->space.base + chunk * SIM_POOL_CHUNK;

	madvise(at, SIM_POOL_CHUNK, MADV_REMOVE);
	mprotect(at, SIM_POOL_CHUNK, PROT_NONE);
	chunks->backed[chunk] = 0;
	chunks->reserved -= SIM_POOL_CHUNK;
	sim_uncharge(chunks->device, SIM_POOL_CHUNK);
}

static bool cover(struct sim_chunks *chunks, size_t chunk)
{
	char *at = chunks->space.base + chunk * SIM_POOL_CHUNK;

	if (chunks->backed[chunk])
		return true;
	if (!sim_charge(chunks->device, SIM_POOL_CHUNK))
		return false;
	if (mprotect(at, SIM_POOL_CHUNK, PROT_READ | PROT_WRITE) != 0) {
		sim_uncharge(chunks->device, SIM_POOL_CHUNK);
		return false;
	}
	chunks->backed[chunk] = 1;
	chunks->reserved += SIM_POOL_CHUNK;
	return true;
}

bool sim_chunks_bind(struct sim_chunks *chunks, void *addr, size_t bytes)
{
	size_t first = granule_of(chunks, addr) / CHUNK_GRANULES;
	size_t last = (granule_of(chunks, addr) + granules_of(bytes) - 1) / CHUNK_GRANULES;

	for (size_t i = first; i <= last; i++) {
		if (cover(chunks, i))
			continue;
		/* Only chunks that this call covered are without users. */
		while (i-- > first)
			if (!chunks->users[i])
				uncover(chunks, i);
		return false;
	}
	for (size_t i = first; i <= last; i++)
		chunks->users[i]++;
	chunks->used += bytes;
	if (chunks->used > chunks->used_high)
		chunks->used_high = chunks->used;
	if (chunks->reserved > chunks->reserved_high)
		chunks->reserved_high = chunks->reserved;
	return true;
}

void sim_chunks_unbind(struct sim_chunks *chunks, void *addr, size_t bytes)
{
	size_t first = granule_of(chunks, addr) / CHUNK_GRANULES;
	size_t last = (granule_of(chunks, addr) + granules_of(bytes) - 1) / CHUNK_GRANULES;

	for (size_t i = first; i <= last; i++)
		chunks->users[i]--;
	chunks->used -= bytes;
}

void sim_chunks_trim(struct sim_chunks *chunks, size_t keep)
{
	size_t nr_chunks = chunks->granules / CHUNK_GRANULES;
	size_t left = chunks->reserved / SIM_POOL_CHUNK;

	for (size_t i = 0; i < nr_chunks && left && chunks->reserved > keep; i++) {
		if (!chunks->backed[i])
			continue;
		left--;
		if (!chunks->users[i])
			uncover(chunks, i);
	}
}
