/*
 * Addresses and small blocks of a simulated device.
 *
 * A space is a range of shared memory that nobody may touch; taking pages makes them accessible,
 * giving them back empties them. A heap cuts slabs of a space into 512-byte granules:
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
	char *base;

	space->pages = (size_t)(low ? LOW_STEP : bytes) / SIM_PAGE;
	space->taken = calloc(space->pages, 1);
	space->fd = memfd_create("gmtsim-device", MFD_CLOEXEC);
	if (!space->taken || space->fd < 0 ||
	    ftruncate(space->fd, (off_t)((space->pages + 1) * SIM_PAGE)))
		return false;
	base = map_space(space->pages * SIM_PAGE, space->fd, low);
	if (!base)
		return false;
	/* A forked child must not write into its parent's device. */
	madvise(base, space->pages * SIM_PAGE, MADV_DONTFORK);
	madvise(base, space->pages * SIM_PAGE, MADV_DONTDUMP);
	space->mapping = base;
	space->base = (char *)sim_round((uintptr_t)base, SIM_PAGE);
	return true;
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

void *sim_space_reserve(struct sim_space *space, size_t pages)
{
	size_t first = lowest_run(space, pages);

	if (first == space->pages)
		return NULL;
	memset(space->taken + first, 1, pages);
	return space->base + first * SIM_PAGE;
}

bool sim_space_commit(struct sim_space *space, void *addr, size_t pages)
{
	(void)space;
	return mprotect(addr, pages * SIM_PAGE, PROT_READ | PROT_WRITE) == 0;
}

void sim_space_uncommit(struct sim_space *space, void *addr, size_t pages)
{
	(void)space;
	madvise(addr, pages * SIM_PAGE, MADV_REMOVE);
	mprotect(addr, pages * SIM_PAGE, PROT_NONE);
}

void *sim_space_take(struct sim_space *space, size_t pages)
{
	void *addr = sim_space_reserve(space, pages);

	if (addr && !sim_space_commit(space, addr, pages)) {
		sim_space_give(space, addr, pages);
		return NULL;
	}
	return addr;
}

void sim_space_give(struct sim_space *space, void *addr, size_t pages)
{
	size_t first = (size_t)((char *)addr - space->base) / SIM_PAGE;

	sim_space_uncommit(space, addr, pages);
	memset(space->taken + first, 0, pages);
	if (first < space->lowest)
		space->lowest = first;
}

static bool bit_is_set(const struct sim_slab *slab, size_t i)
{
	return slab->bits[i / 64] >> (i % 64) & 1;
}

static void set_bits(struct sim_slab *slab, size_t first, size_t count, bool value)
{
	for (size_t i = first; i < first + count;) {
		if (i % 64 == 0 && first + count - i >= 64) {
			slab->bits[i / 64] = value ? UINT64_MAX : 0;
			i += 64;
			continue;
		}
		if (value)
			slab->bits[i / 64] |= UINT64_C(1) << (i % 64);
		else
			slab->bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
		i++;
	}
}

/* First run of free granules, or slab->granules. */
static size_t first_run(const struct sim_slab *slab, size_t count)
{
	size_t run = 0;

	for (size_t i = 0; i < slab->granules;) {
		uint64_t word = slab->bits[i / 64];

		if (i % 64 == 0 && (word == 0 || word == UINT64_MAX)) {
			run = word ? 0 : run + 64;
			i += 64;
		} else {
			run = bit_is_set(slab, i) ? 0 : run + 1;
			i++;
		}
		if (run >= count)
			return i - run;
	}
	return slab->granules;
}

static struct sim_slab *new_slab(struct sim_heap *heap, size_t bytes)
{
	size_t granules = bytes / SIM_GRANULE;
	struct sim_slab *slab, **link = &heap->slabs;

	if (!sim_charge(heap->device, bytes))
		return NULL;
	slab = calloc(1, sizeof(*slab) + (granules + 63) / 64 * sizeof(uint64_t));
	if (slab)
		slab->base = sim_space_take(heap->space, bytes / SIM_PAGE);
	if (!slab || !slab->base) {
		free(slab);
		sim_uncharge(heap->device, bytes);
		return NULL;
	}
	slab->bytes = bytes;
	slab->granules = granules;
	slab->fails_at = granules + 1;
	while (*link && (*link)->base < slab->base)
		link = &(*link)->next;
	slab->next = *link;
	*link = slab;
	heap->reserved += bytes;
	if (heap->reserved > heap->reserved_high)
		heap->reserved_high = heap->reserved;
	return slab;
}

static void drop_slab(struct sim_heap *heap, struct sim_slab **link)
{
	struct sim_slab *slab = *link;

	*link = slab->next;
	heap->reserved -= slab->bytes;
	sim_space_give(heap->space, slab->base, slab->bytes / SIM_PAGE);
	sim_uncharge(heap->device, slab->bytes);
	free(slab);
}

void *sim_heap_take(struct sim_heap *heap, size_t bytes)
{
	size_t count = sim_round(bytes, SIM_GRANULE) / SIM_GRANULE, first = 0;
	struct sim_slab *slab;

	for (slab = heap->slabs; slab; slab = slab->next) {
		if (slab->granules - slab->used < count || count >= slab->fails_at)
			continue;
		first = first_run(slab, count);
		if (first < slab->granules)
			break;
		slab->fails_at = count;
	}
	if (!slab) {
		slab = new_slab(heap, sim_round(bytes, heap->slab_bytes));
		first = 0;
	}
	if (!slab)
		return NULL;
	set_bits(slab, first, count, true);
	slab->used += count;
	heap->used += count * SIM_GRANULE;
	if (heap->used > heap->used_high)
		heap->used_high = heap->used;
	return slab->base + first * SIM_GRANULE;
}

void sim_heap_give(struct sim_heap *heap, void *addr, size_t bytes)
{
	size_t count = sim_round(bytes, SIM_GRANULE) / SIM_GRANULE;
	char *at = addr;

	for (struct sim_slab **link = &heap->slabs; *link; link = &(*link)->next) {
		struct sim_slab *slab = *link;

		if (at < slab->base || at >= slab->base + slab->bytes)
			continue;
		set_bits(slab, (size_t)(at - slab->base) / SIM_GRANULE, count, false);
		slab->fails_at = slab->granules + 1;
		slab->used -= count;
		heap->used -= count * SIM_GRANULE;
		if (!slab->used && !heap->caches)
			drop_slab(heap, link);
		return;
	}
}

void sim_heap_trim(struct sim_heap *heap, size_t keep)
{
	struct sim_slab **link = &heap->slabs;

	while (*link && heap->reserved > keep) {
		if ((*link)->used)
			link = &(*link)->next;
		else
			drop_slab(heap, link);
	}
}
