/*
 * Owns the activity buffers: own memory, bounded. When CUPTI has them all it gets none and drops
 * records, which it counts.
 *
 *	free list ──requested──► CUPTI ──completed──► records ──► attribute.c; back to the free list
 *
 * The callbacks keep errno, call no CUDA and take no lock but the free list's and attribute.c's.
 */
#ifndef GMT_NO_CUPTI
#define _GNU_SOURCE
#include "cupti/activity.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "cupti/attribute.h"
#include "preload/counters.h"

/*
 * CUPTI keeps a buffer in hand for every thread that launches, so there are small ones for programs
 * of many threads: up to 32 threads have some 5,000 kernels each, 512 more some 300. 64 MiB in all.
 */
#define NR_POOLS 2

/* A free buffer's first words. */
struct free_buffer {
	struct free_buffer *next;
};

struct pool {
	size_t bytes; /* of a buffer */
	unsigned int max, made;
	struct free_buffer *free;
};

static struct {
	_Atomic(const struct gmt_cupti_api *) api;
	pthread_mutex_t lock; /* a leaf */
	struct pool pools[NR_POOLS];
	unsigned int nr_lent;
} activity = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.pools = { { .bytes = 1 << 20, .max = 32 }, { .bytes = 64 << 10, .max = 512 } },
};

/* Under the lock. NULL: all are lent, or there is no memory. */
static void *take_from(struct pool *pool)
{
	struct free_buffer *buffer = pool->free;

	if (buffer) {
		pool->free = buffer->next;
		return buffer;
	}
	if (pool->made == pool->max)
		return NULL;
	buffer =
		mmap(NULL, pool->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		return NULL;
	pool->made++;
	return buffer;
}

static void *take_buffer(size_t *bytes)
{
	void *buffer = NULL;

	*bytes = 0;
	pthread_mutex_lock(&activity.lock);
	for (int i = 0; i < NR_POOLS && !buffer; i++) {
		buffer = take_from(&activity.pools[i]);
		if (buffer)
			*bytes = activity.pools[i].bytes;
	}
	if (buffer)
		activity.nr_lent++;
	pthread_mutex_unlock(&activity.lock);
	return buffer;
}

static void put_buffer(void *memory, size_t bytes)
{
	struct free_buffer *buffer = memory;

	pthread_mutex_lock(&activity.lock);
	for (int i = 0; i < NR_POOLS; i++) {
		struct pool *pool = &activity.pools[i];

		if (pool->bytes != bytes)
			continue;
		buffer->next = pool->free;
		pool->free = buffer;
	}
	activity.nr_lent--;
	pthread_mutex_unlock(&activity.lock);
}

static bool any_lent(void)
{
	bool lent;

	pthread_mutex_lock(&activity.lock);
	lent = activity.nr_lent > 0;
	pthread_mutex_unlock(&activity.lock);
	return lent;
}

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	int saved = errno;

	*buffer = take_buffer(size);
	*max_records = 0; /* as many as fit */
	errno = saved;
}

static bool is_kernel(const CUpti_Activity *record)
{
	return record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       record->kind == CUPTI_ACTIVITY_KIND_KERNEL;
}

static void read_records(const struct gmt_cupti_api *api, uint8_t *buffer, size_t bytes)
{
	CUpti_Activity *record = NULL;
	struct gmt_batch batch;

	gmt_batch_begin(&batch);
	while (api->cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS && record) {
		size_t offset = (size_t)((uint8_t *)record - buffer);

		if (is_kernel(record) && offset <= bytes && bytes - offset >= api->layout->bytes)
			gmt_batch_add(&batch, (const struct gmt_kernel_head *)(const void *)record);
	}
	gmt_batch_hand_over(&batch);
}

static void count_drops(const struct gmt_cupti_api *api)
{
	size_t dropped = 0;

	if (api->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS && dropped)
		gmt_count_add(GMT_COUNT_dropped_kernels, dropped);
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid)
{
	const struct gmt_cupti_api *api = atomic_load(&activity.api);
	int saved = errno;

	(void)context;
	(void)stream;
	if (!buffer)
		return;
	if (valid && valid <= size)
		read_records(api, buffer, valid);
	put_buffer(buffer, size);
	count_drops(api);
	errno = saved;
}

CUptiResult gmt_activity_start(const struct gmt_cupti_api *api)
{
	CUptiResult rc;

	atomic_store(&activity.api, api);
	rc = api->cuptiActivityRegisterCallbacks(requested, completed);
	if (rc == CUPTI_SUCCESS)
		rc = api->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	return rc;
}

void gmt_activity_flush(void)
{
	const struct gmt_cupti_api *api = atomic_load(&activity.api);

	api->cuptiActivityFlushAll(0);
	/* A buffer with a record whose kernel never told its end is kept back from a plain flush.
	 */
	if (any_lent())
		api->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	count_drops(api);
}
#endif
