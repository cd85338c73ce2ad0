/*
 * Activity buffers: the client gives them, a worker thread fills them, and they go back when full,
 * at a flush, or when the flush period ends.
 *
 *	sim_cupti_queue ──> queue ──> deliver() ──> client's buffer ──> completed callback
 *	 any thread                    worker or flushing thread
 *
 * Two locks: `lock` guards the queue and is a leaf; `delivery` keeps buffers in order and is held
 * over the client's two callbacks.
 */
#include "tests/sim/cupti_buffers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pending {
	struct pending *next;
	size_t bytes;
	unsigned char record[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct pending *first;
static struct pending **last = &first;
static uint32_t nr_dropped;
static unsigned int period_ms; /* 0: partly filled buffers wait for a flush */
static struct timespec due;    /* the end of the period */
static bool has_worker;

static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;
static struct {
	uint8_t *start; /* NULL: none in hand */
	size_t size, used, max_records, nr_records;
} buffer;

static __thread bool delivering; /* in one of the client's callbacks */

static void give_back(void)
{
	uint8_t *start = buffer.start;

	buffer.start = NULL;
	if (!start)
		return;
	delivering = true;
	completed(NULL, 0, start, buffer.size, buffer.used);
	delivering = false;
}

static bool has_room(size_t bytes)
{
	return buffer.start && buffer.size - buffer.used >= bytes &&
	       (buffer.max_records == 0 || buffer.nr_records < buffer.max_records);
}

static bool make_room(size_t bytes)
{
	if (has_room(bytes))
		return true;
	give_back();
	memset(&buffer, 0, sizeof(buffer));
	if (!requested)
		return false;
	delivering = true;
	requested(&buffer.start, &buffer.size, &buffer.max_records);
	delivering = false;
	return has_room(bytes);
}

/* With `all`, a partly filled buffer goes back as well. */
static void deliver(bool all)
{
	struct pending *next;

	pthread_mutex_lock(&delivery);
	pthread_mutex_lock(&lock);
	next = first;
	first = NULL;
	last = &first;
	pthread_mutex_unlock(&lock);

	while (next) {
		struct pending *pending = next;

		next = pending->next;
		if (make_room(pending->bytes)) {
			memcpy(buffer.start + buffer.used, pending->record, pending->bytes);
			buffer.used += pending->bytes;
			buffer.nr_records++;
		} else {
			pthread_mutex_lock(&lock);
			nr_dropped++;
			pthread_mutex_unlock(&lock);
		}
		free(pending);
	}
	if (all && buffer.used > 0)
		give_back();
	pthread_mutex_unlock(&delivery);
}

/* Called with the lock held: when partly filled buffers are to go back next. */
static void start_period(void)
{
	clock_gettime(CLOCK_REALTIME, &due);
	due.tv_sec += period_ms / 1000;
	due.tv_nsec += (long)(period_ms % 1000) * 1000000;
	if (due.tv_nsec >= 1000000000) {
		due.tv_sec++;
		due.tv_nsec -= 1000000000;
	}
}

static bool period_is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > due.tv_sec || (now.tv_sec == due.tv_sec && now.tv_nsec >= due.tv_nsec);
}

/* Lives until the process ends and is never waited for. */
static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		bool over;

		if (!first && period_ms > 0)
			pthread_cond_timedwait(&wake, &lock, &due);
		else if (!first)
			pthread_cond_wait(&wake, &lock);
		over = period_ms > 0 && period_is_over();
		if (over)
			start_period();
		pthread_mutex_unlock(&lock);
		deliver(over);
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

/* Called with the lock held. The program's signals are not for the worker. */
static void start_worker(void)
{
	sigset_t every, before;
	pthread_t thread;

	sigfillset(&every);
	pthread_sigmask(SIG_BLOCK, &every, &before);
	if (pthread_create(&thread, NULL, work, NULL) == 0) {
		pthread_detach(thread);
		has_worker = true;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sim_cupti_queue(const void *record, size_t bytes)
{
	struct pending *pending = malloc(sizeof(*pending) + bytes);

	pthread_mutex_lock(&lock);
	if (pending) {
		pending->next = NULL;
		pending->bytes = bytes;
		memcpy(pending->record, record, bytes);
		*last = pending;
		last = &pending->next;
		pthread_cond_signal(&wake);
	} else {
		nr_dropped++;
	}
	pthread_mutex_unlock(&lock);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
					   CUpti_BuffersCallbackCompleteFunc complete)
{
	CUptiResult result = sim_cupti_check();

	if (result != CUPTI_SUCCESS)
		return sim_cupti_done(result);
	if (!request || !complete)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);

	pthread_mutex_lock(&delivery);
	give_back();
	memset(&buffer, 0, sizeof(buffer));
	requested = request;
	completed = complete;
	pthread_mutex_unlock(&delivery);

	pthread_mutex_lock(&lock);
	if (!has_worker)
		start_worker();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult result = sim_cupti_check();

	(void)flag; /* every record here is complete, so a forced flush has no more to give */
	if (result == CUPTI_SUCCESS && delivering)
		result = CUPTI_ERROR_INVALID_OPERATION;
	if (result == CUPTI_SUCCESS)
		deliver(true);
	return sim_cupti_done(result);
}

CUptiResult cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag)
{
	(void)context;
	(void)stream;
	return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
	pthread_mutex_lock(&lock);
	period_ms = ms;
	start_period();
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	if (!dropped)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	pthread_mutex_lock(&lock);
	*dropped = nr_dropped;
	nr_dropped = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

static size_t record_size(const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(CUpti_ActivityKernel10);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	default:
		return 0;
	}
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *start, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = start;
	size_t bytes;

	if (!start || !record)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	if (*record)
		next = (uint8_t *)*record + record_size(*record);
	if (next + sizeof(CUpti_Activity) > start + valid)
		return sim_cupti_done(CUPTI_ERROR_MAX_LIMIT_REACHED);
	bytes = record_size((CUpti_Activity *)next);
	if (bytes == 0)
		return sim_cupti_done(CUPTI_ERROR_INVALID_KIND);
	if (next + bytes > start + valid)
		return sim_cupti_done(CUPTI_ERROR_MAX_LIMIT_REACHED);
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

void sim_cupti_buffers_stop(void)
{
	deliver(true);
	pthread_mutex_lock(&delivery);
	give_back();
	requested = NULL;
	completed = NULL;
	pthread_mutex_unlock(&delivery);
}
