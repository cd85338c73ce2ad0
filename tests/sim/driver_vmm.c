/*
 * Virtual memory management: addresses, memory and mappings apart from each other. All memory of a
 * device is one sparse shared file, a handle is a piece of it, so one handle can be mapped several
 * times. A handle's bytes are the device's until neither a reference nor a mapping is left.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

struct sim_physical {
	struct sim_object object;
	struct sim_device *device;
	size_t bytes;
	uint64_t offset; /* in the device's file */
	unsigned int refs, maps;
	CUmemAllocationProp prop;
};

struct reservation {
	struct reservation *next;
	char *addr, *mapping; /* mapping: one alignment more than asked for */
	size_t bytes, mapped_bytes;
};

static struct reservation *reservations;

static bool is_aligned(uint64_t value)
{
	return value % SIM_PAGE == 0;
}

/* The reservation that holds all of the range. */
static struct reservation *reservation_of(CUdeviceptr addr, size_t bytes)
{
	for (struct reservation *r = reservations; r; r = r->next)
		if (addr >= (uintptr_t)r->addr && bytes <= r->bytes &&
		    addr - (uintptr_t)r->addr <= r->bytes - bytes)
			return r;
	return NULL;
}

SIM_API(cuMemAddressReserve,
	(CUdeviceptr * ptr, size_t size, size_t alignment, CUdeviceptr addr,
	 unsigned long long flags),
	(ptr, size, alignment, addr, flags))
{
	struct reservation *r;

	if (alignment < SIM_PAGE)
		alignment = SIM_PAGE;
	if (!ptr || !size || !is_aligned(size) || alignment & (alignment - 1) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = calloc(1, sizeof(*r));
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r->bytes = size;
	r->mapped_bytes = size + alignment;
	r->mapping = mmap((void *)addr, r->mapped_bytes, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->mapping == MAP_FAILED) {
		free(r);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	r->addr = (char *)sim_round((uintptr_t)r->mapping, alignment);
	r->next = reservations;
	reservations = r;
	*ptr = (CUdeviceptr)r->addr;
	return CUDA_SUCCESS;
}

static bool holds_mapping(const struct reservation *r)
{
	for (size_t at = 0; at < r->bytes; at += SIM_PAGE)
		if (sim_range_find((uintptr_t)r->addr + at))
			return true;
	return false;
}

SIM_API(cuMemAddressFree, (CUdeviceptr ptr, size_t size), (ptr, size))
{
	struct reservation *r = reservation_of(ptr, size), **link = &reservations;

	if (!r || (CUdeviceptr)r->addr != ptr || r->bytes != size || holds_mapping(r))
		return CUDA_ERROR_INVALID_VALUE;
	while (*link != r)
		link = &(*link)->next;
	*link = r->next;
	munmap(r->mapping, r->mapped_bytes);
	free(r);
	return CUDA_SUCCESS;
}

static struct sim_device *device_of(const CUmemAllocationProp *prop)
{
	return prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
			       prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE
		       ? sim_device(prop->location.id)
		       : NULL;
}

SIM_API(cuMemGetAllocationGranularity,
	(size_t * granularity, const CUmemAllocationProp *prop,
	 CUmemAllocationGranularity_flags option),
	(granularity, prop, option))
{
	if (!granularity || !prop || !device_of(prop))
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = SIM_PAGE;
	return CUDA_SUCCESS;
}

static bool grow_file(struct sim_device *device, size_t bytes)
{
	if (device->physical_fd < 0)
		device->physical_fd = memfd_create("gmtsim-physical", MFD_CLOEXEC);
	return device->physical_fd >= 0 &&
	       ftruncate(device->physical_fd, (off_t)(device->physical_next + bytes)) == 0;
}

SIM_API(cuMemCreate,
	(CUmemGenericAllocationHandle * handle, size_t size, const CUmemAllocationProp *prop,
	 unsigned long long flags),
	(handle, size, prop, flags))
{
	struct sim_device *device = prop ? device_of(prop) : NULL;
	struct sim_physical *physical;

	if (!handle || !size || !is_aligned(size) || !device || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_oom_injected(size) || !sim_charge(device, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	physical = grow_file(device, size) ? sim_object_new(sizeof(*physical), SIM_PHYSICAL, NULL)
					   : NULL;
	if (!physical) {
		sim_uncharge(device, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	physical->device = device;
	physical->bytes = size;
	physical->offset = device->physical_next;
	physical->refs = 1;
	physical->prop = *prop;
	device->physical_next += size;
	sim_stat_alloc(device, SIM_KIND_VMM, size);
	*handle = (CUmemGenericAllocationHandle)(uintptr_t)physical;
	return CUDA_SUCCESS;
}

/* A handle without references is no handle any more, though its memory may be mapped. */
static struct sim_physical *physical_of(CUmemGenericAllocationHandle handle)
{
	SIM_FIND(physical, sim_physical, (void *)(uintptr_t)handle, SIM_PHYSICAL);

	return physical && physical->refs ? physical : NULL;
}

static void free_if_unused(struct sim_physical *physical)
{
	if (physical->refs || physical->maps)
		return;
	fallocate(physical->device->physical_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		  (off_t)physical->offset, (off_t)physical->bytes);
	sim_uncharge(physical->device, physical->bytes);
	sim_stat_free(physical->device, SIM_KIND_VMM, physical->bytes);
	sim_object_free(physical);
}

SIM_API(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
{
	struct sim_physical *physical = physical_of(handle);

	if (!physical)
		return CUDA_ERROR_INVALID_VALUE;
	physical->refs--;
	free_if_unused(physical);
	return CUDA_SUCCESS;
}

SIM_API(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *addr),
	(handle, addr))
{
	struct sim_range *range = sim_range_find((uintptr_t)addr);

	if (!handle || !range || range->kind != SIM_KIND_VMM)
		return CUDA_ERROR_INVALID_VALUE;
	range->physical->refs++;
	*handle = (CUmemGenericAllocationHandle)(uintptr_t)range->physical;
	return CUDA_SUCCESS;
}

SIM_API(cuMemGetAllocationPropertiesFromHandle,
	(CUmemAllocationProp * prop, CUmemGenericAllocationHandle handle), (prop, handle))
{
	struct sim_physical *physical = physical_of(handle);

	if (!prop || !physical)
		return CUDA_ERROR_INVALID_VALUE;
	*prop = physical->prop;
	return CUDA_SUCCESS;
}

static bool is_unmapped(CUdeviceptr addr, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += SIM_PAGE)
		if (sim_range_find(addr + at))
			return false;
	return true;
}

SIM_API(cuMemMap,
	(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
	 unsigned long long flags),
	(ptr, size, offset, handle, flags))
{
	struct sim_physical *physical = physical_of(handle);
	struct sim_range range = { .base = ptr, .bytes = size, .kind = SIM_KIND_VMM };

	if (offset)
		return CUDA_ERROR_NOT_SUPPORTED; /* as measured */
	if (!physical || !size || !is_aligned(size) || !is_aligned(ptr) || flags ||
	    size > physical->bytes || !reservation_of(ptr, size) || !is_unmapped(ptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	range.device = physical->device;
	range.physical = physical;
	/* Not to be touched before cuMemSetAccess. */
	if (mmap((void *)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
		 physical->device->physical_fd, (off_t)physical->offset) == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!sim_range_add(&range))
		return CUDA_ERROR_OUT_OF_MEMORY;
	physical->maps++;
	return CUDA_SUCCESS;
}

/* Nothing but whole mappings and holes: what may be unmapped. */
static bool is_separable(CUdeviceptr ptr, size_t size)
{
	for (CUdeviceptr at = ptr; at < ptr + size; at += SIM_PAGE) {
		struct sim_range *range = sim_range_find(at);

		if (range && (range->base < ptr || range->base + range->bytes > ptr + size))
			return false;
	}
	return true;
}

/* Whole mappings from ptr to ptr + size, without a gap. */
static bool is_run_of_mappings(CUdeviceptr ptr, size_t size)
{
	CUdeviceptr at = ptr;

	while (at < ptr + size) {
		struct sim_range *range = sim_range_at(at, SIM_KIND_VMM);

		if (!range)
			return false;
		at += range->bytes;
	}
	return at == ptr + size;
}

SIM_API(cuMemUnmap, (CUdeviceptr ptr, size_t size), (ptr, size))
{
	if (!size || !is_aligned(ptr) || !is_aligned(size) || !reservation_of(ptr, size) ||
	    !is_separable(ptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	for (CUdeviceptr at = ptr; at < ptr + size; at += SIM_PAGE) {
		struct sim_range *range = sim_range_at(at, SIM_KIND_VMM);
		struct sim_physical *physical = range ? range->physical : NULL;

		if (!range)
			continue;
		mmap((void *)range->base, range->bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		sim_range_remove(range);
		physical->maps--;
		free_if_unused(physical);
	}
	return CUDA_SUCCESS;
}

SIM_API(cuMemSetAccess, (CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count),
	(ptr, size, desc, count))
{
	if (!desc || !count || !size || !is_run_of_mappings(ptr, size))
		return CUDA_ERROR_INVALID_VALUE;
	for (CUdeviceptr at = ptr; at < ptr + size;) {
		struct sim_range *range = sim_range_at(at, SIM_KIND_VMM);

		range->accessible = desc[0].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
		mprotect((void *)range->base, range->bytes,
			 range->accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
		at += range->bytes;
	}
	return CUDA_SUCCESS;
}

SIM_API(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr),
	(flags, location, ptr))
{
	struct sim_range *range = sim_range_find(ptr);

	if (!flags || !location || !range || range->kind != SIM_KIND_VMM)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = range->accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0;
	return CUDA_SUCCESS;
}

/* A shareable handle is a file with the handle's number: it works within this process. */
SIM_API(cuMemExportToShareableHandle,
	(void *shareableHandle, CUmemGenericAllocationHandle handle,
	 CUmemAllocationHandleType handleType, unsigned long long flags),
	(shareableHandle, handle, handleType, flags))
{
	struct sim_physical *physical = physical_of(handle);
	int fd;

	if (!shareableHandle || !physical ||
	    handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !(physical->prop.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		return CUDA_ERROR_INVALID_VALUE;
	fd = memfd_create("gmtsim-handle", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, &handle, sizeof(handle), 0) != sizeof(handle))
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)shareableHandle = fd;
	return CUDA_SUCCESS;
}

SIM_API(cuMemImportFromShareableHandle,
	(CUmemGenericAllocationHandle * handle, void *osHandle,
	 CUmemAllocationHandleType shHandleType),
	(handle, osHandle, shHandleType))
{
	CUmemGenericAllocationHandle value;
	struct sim_physical *physical;

	if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    pread((int)(intptr_t)osHandle, &value, sizeof(value), 0) != sizeof(value))
		return CUDA_ERROR_INVALID_VALUE;
	physical = sim_object_find((void *)(uintptr_t)value, SIM_PHYSICAL);
	if (!physical)
		return CUDA_ERROR_INVALID_VALUE;
	physical->refs++;
	*handle = value;
	return CUDA_SUCCESS;
}
