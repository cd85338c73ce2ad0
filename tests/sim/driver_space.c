/*
 * Addresses and small blocks of a simulated device.
 *
 * A space is a range of shared memory that nobody may touch; taking pages makes them accessible,
 * giving them back empties them. A heap cuts pages of a space into 512-byte granules:
 *
 *	slab of 2 MiB:  [512 KiB block][512 KiB block][ free .......... ]
 *	                 one bit a granule; given back when the last block goes
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

/* Where 32-bit device addresses may live, for the v1 entries. */
#define LOW_BASE ((char *)0x20000000)
#define LOW_STEP ((size_t)64 << 20)

static char *map_space(size_t bytes, int fd, bool low)
{
	int flags = MAP_SHARED | MAP_NORESERVE;
	char *base;

	if (!low) {
		/* One page more, to align the start. */
		base = mmap(NULL, bytes + SIM_PAGE, PROT_NONE, flags, fd, 0);
		return base == MAP_FAILED ? NULL : base;
	}
	for (size_t i = 0; i < SIM_MAX_DEVICE; i++) {
		base = mmap(LOW_BASE + i * LOW_STEP, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE,
			    fd, 0);
		if (base != MAP_FAILED)
			return base;
	}
	return NULL;
}

bool sim_space_open(struct sim_space *space, uint64_t bytes, bool low)
{
	space->pages = (size_t)(low ? LOW_STEP : bytes) / SIM_PAGE;
	space->taken = calloc(space->pages, 1);
	space->fd = memfd_create("gmtsim-device", MFD_CLOEXEC);
	if (!space->taken || space->fd < 0 ||
	    ftruncate(space->fd, (off_t)((space->pages + 1) * SIM_PAGE)) != 0)
		return false;
	space->mapping = map_space(space->pages * SIM_PAGE, space->fd, low);
	if (!space->mapping)
		return false;
	/* A forked child must not write into its parent's device. */
	madvise(space->mapping, space->pages * SIM_PAGE, MADV_DONTFORK);
	madvise(space->mapping, space->pages * SIM_PAGE, MADV_DONTDUMP);
	space->base = (char *)sim_round((uintptr_t)space->mapping, SIM_PAGE);
	return true;
}

void sim_space_close(struct sim_space *space)
{
	munmap(space->mapping, (space->pages + 1) * SIM_PAGE);
	close(space->fd);
	free(space->taken);
}

bool sim_space_holds(const struct sim_space *space, const void *addr)
{
	const char *at = addr;

	return space->base && at >= space->base && at < space->base + space->pages * SIM_PAGE;
}

/* Index of the lowest free run, or space->pages. */
static size_t lowest_run(struct sim_space *space, size_t pages)
{
	size_t run = 0;

	while (space->lowest < space->pages && space->taken[space->lowest])
		space->lowest++;
	for (size_t i = space->lowest; i < space->pages; i++) {
		run = space->taken[i] ? 0 : run + 1;
		if (run == pages)
			return i + 1 - pages;
	}
	return space->pages;
}

void *sim_space_take(struct sim_space *space, size_t pages)
{
	size_t first = lowest_run(space, pages);
	char *addr = space->base + first * SIM_PAGE;

	if (first == space->pages || mprotect(addr, pages * SIM_PAGE, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	memset(space->taken + first, 1, pages);
	return addr;
}

void sim_space_give(struct sim_space *space, void *addr, size_t pages)
{
	size_t first = (size_t)((char *)addr - space->base) / SIM_PAGE;

	madvise(addr, pages * SIM_PAGE, MADV_REMOVE);
	mprotect(addr, pages * SIM_PAGE, PROT_NONE);
	memset(space->taken + first, 0, pages);
	if (first < space->lowest)
		space->lowest = first;
}

void sim_bits_set(uint64_t *bits, size_t first, size_t count, bool value)
{
	size_t end = first + count;

	for (size_t i = first; i < end;) {
		if (i % 64 == 0 && end - i >= 64) {
			bits[i / 64] = value ? UINT64_MAX : 0;
			i += 64;
			continue;
		}
		if (value)
			bits[i / 64] |= UINT64_C(1) << (i % 64);
		else
			bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
		i++;
	}
}

size_t sim_bits_run(const uint64_t *bits, size_t from, size_t to, size_t count)
{
	size_t run = 0;

	for (size_t i = from; i < to;) {
		uint64_t word = bits[i / 64];

		if (i % 64 == 0 && to - i >= 64 && (word == 0 || word == UINT64_MAX)) {
			run = word ? 0 : run + 64;
			i += 64;
		} else {
			run = word >> (i % 64) & 1 ? 0 : run + 1;
			i++;
		}
		if (run >= count)
			return i - run;
	}
	return to;
}

static struct sim_slab *new_slab(struct sim_heap *heap)
{
	struct sim_slab *slab, **link = &heap->slabs;

	if (!sim_charge(heap->device, SIM_PAGE))
		return NULL;
	slab = calloc(1, sizeof(*slab));
	if (slab)
		slab->base = sim_space_take(heap->space, 1);
	if (!slab || !slab->base) {
		free(slab);
		sim_uncharge(heap->device, SIM_PAGE);
		return NULL;
	}
	slab->fails_at = SIM_PAGE_GRANULES + 1;
	while (*link && (*link)->base < slab->base)
		link = &(*link)->next;
	slab->next = *link;
	*link = slab;
	return slab;
}

void *sim_heap_take(struct sim_heap *heap, size_t bytes)
{
	size_t count = sim_round(bytes, SIM_GRANULE) / SIM_GRANULE, first = 0;
	struct sim_slab *slab;

	for (slab = heap->slabs; slab; slab = slab->next) {
		if (SIM_PAGE_GRANULES - slab->used < count || count >= slab->fails_at)
			continue;
		first = sim_bits_run(slab->bits, 0, SIM_PAGE_GRANULES, count);
		if (first < SIM_PAGE_GRANULES)
			break;
		slab->fails_at = count;
	}
	if (!slab) {
		slab = new_slab(heap);
		first = 0;
	}
	if (!slab)
		return NULL;
	sim_bits_set(slab->bits, first, count, true);
	slab->used += count;
	return slab->base + first * SIM_GRANULE;
}

void sim_heap_give(struct sim_heap *heap, void *addr, size_t bytes)
{
	size_t count = sim_round(bytes, SIM_GRANULE) / SIM_GRANULE;
	struct sim_slab **link = &heap->slabs, *slab;
	char *at = addr;

	while (at < (*link)->base || at >= (*link)->base + SIM_PAGE)
		link = &(*link)->next;
	slab = *link;
	sim_bits_set(slab->bits, (size_t)(at - slab->base) / SIM_GRANULE, count, false);
	slab->fails_at = SIM_PAGE_GRANULES + 1;
	slab->used -= count;
	if (slab->used)
		return;
	*link = slab->next;
	sim_space_give(heap->space, slab->base, 1);
	sim_uncharge(heap->device, SIM_PAGE);
	free(slab);
}
