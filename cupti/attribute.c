/*
 * Owns the cache from kernel names to the ledger's ids. Runs on CUPTI's worker thread and on the
 * thread that flushes.
 */
#include "cupti/attribute.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "preload/counters.h"
#include "preload/record.h"

#define CACHE_SLOTS 4096 /* a power of two */
#define CACHE_FULL  3072

/*
 * By hash of the name's text: a pointer may be another kernel's after its module was unloaded.
 * Two names of one 64-bit hash are not expected in 3072.
 */
static struct {
	pthread_mutex_t lock; /* above the ledger's */
	struct {
		uint64_t key; /* 0: free */
		uint32_t kernel;
	} slots[CACHE_SLOTS];
	uint32_t used;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_uint_fast64_t nr_records, nr_untimed;

static uint64_t key_of(const char *name, uint32_t device)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ device;

	do
		hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
	while (*name++);
	return hash ? hash : 1;
}

/* Under the lock. 0: the ledger could not keep it. */
static uint32_t kernel_id(const char *name, uint32_t device)
{
	uint64_t key = key_of(name, device);
	uint32_t slot = (uint32_t)(key ^ key >> 32) % CACHE_SLOTS;
	uint32_t kernel;

	while (cache.slots[slot].key && cache.slots[slot].key != key)
		slot = (slot + 1) % CACHE_SLOTS;
	if (cache.slots[slot].key)
		return cache.slots[slot].kernel;
	kernel = gmt_record_kernel(name, (int32_t)device);
	if (kernel && cache.used < CACHE_FULL) {
		cache.slots[slot].key = key;
		cache.slots[slot].kernel = kernel;
		cache.used++;
	}
	return kernel;
}

void gmt_batch_begin(struct gmt_batch *batch)
{
	memset(batch, 0, sizeof(*batch));
}

/* Within a batch the pointer stands for the name: CUPTI shares it among a kernel's records. */
static struct gmt_batch_row *row_of(struct gmt_batch *batch, const char *name, uint32_t device,
				    uint32_t stream)
{
	uint64_t hash = ((uintptr_t)name ^ (uint64_t)device << 48 ^ (uint64_t)stream << 32) *
			UINT64_C(0x9e3779b97f4a7c15);
	uint32_t slot = (uint32_t)(hash >> 32) % GMT_BATCH_ROWS;
	struct gmt_batch_row *row;

	for (;; slot = (slot + 1) % GMT_BATCH_ROWS) {
		row = &batch->rows[slot];
		if (!row->name)
			break;
		if (row->name == name && row->device == device && row->stream == stream)
			return row;
	}
	row->name = name;
	row->device = device;
	row->stream = stream;
	batch->used++;
	return row;
}

void gmt_batch_add(struct gmt_batch *batch, const struct gmt_kernel_head *record)
{
	const char *name = record->name && record->name[0] ? record->name : "(unknown kernel)";
	bool timed = record->start_ns && record->end_ns >= record->start_ns;
	struct gmt_batch_row *row;

	if (batch->used >= GMT_BATCH_FULL)
		gmt_batch_hand_over(batch);
	row = row_of(batch, name, record->device, record->stream);
	row->records++;
	if (timed)
		row->gpu_ns += record->end_ns - record->start_ns;
	else
		atomic_fetch_add_explicit(&nr_untimed, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&nr_records, 1, memory_order_relaxed);
}

void gmt_batch_hand_over(struct gmt_batch *batch)
{
	pthread_mutex_lock(&cache.lock);
	for (uint32_t i = 0; batch->used && i < GMT_BATCH_ROWS; i++) {
		const struct gmt_batch_row *row = &batch->rows[i];
		uint32_t kernel;

		if (!row->name)
			continue;
		kernel = kernel_id(row->name, row->device);
		if (kernel)
			gmt_record_kernel_time(kernel, row->stream, row->gpu_ns, row->records);
		else
			gmt_count_add(GMT_COUNT_dropped_kernels, row->records);
	}
	pthread_mutex_unlock(&cache.lock);
	gmt_batch_begin(batch);
}

uint64_t gmt_attribute_records(void)
{
	return atomic_load(&nr_records);
}

uint64_t gmt_attribute_untimed(void)
{
	return atomic_load(&nr_untimed);
}
