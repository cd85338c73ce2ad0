/*
 * Owns the ledger of this process and its mutex, a leaf lock: nothing is called under it but the
 * ledger. Runs in the application's threads.
 */
#define _GNU_SOURCE
#include "preload/record_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "preload/arena.h"
#include "preload/clock.h"
#include "preload/counters.h"
#include "preload/guard.h"
#include "preload/init.h"
#include "preload/stack.h"

/* The report waits this long for a thread that is inside the ledger; it takes microseconds. */
#define FINISH_WAIT_S 5

/* One hook call in this many is timed, for self.hook_seconds: the clock costs as much as an insert.
 */
#define TIMED_EVERY 64

static struct {
	pthread_mutex_t lock;
	struct gmt_arena *arena;
	struct gmt_ledger *ledger;
	atomic_bool draining; /* the report is being taken */
	atomic_bool used_cuda;
} record = { .lock = PTHREAD_MUTEX_INITIALIZER };

void gmt_record_used_cuda(void)
{
	if (!atomic_load_explicit(&record.used_cuda, memory_order_relaxed))
		atomic_store(&record.used_cuda, true);
}

bool gmt_record_has_used_cuda(void)
{
	return atomic_load(&record.used_cuda);
}

/* Enters the bookkeeping: guard and activation. False: count and go. */
static bool begin(int *saved_errno)
{
	*saved_errno = errno;
	if (atomic_load_explicit(&record.draining, memory_order_relaxed)) {
		gmt_count(GMT_COUNT_late_events);
		return false;
	}
	gmt_record_used_cuda();
	if (!gmt_guard_enter()) {
		gmt_count(GMT_COUNT_reentered);
		return false;
	}
	return true;
}

static void end(int saved_errno)
{
	gmt_guard_leave();
	errno = saved_errno;
}

/* Under the lock. Made by the first who needs it. NULL: no memory. */
static struct gmt_ledger *the_ledger(void)
{
	if (!record.ledger) {
		record.arena = gmt_arena_new();
		if (record.arena)
			record.ledger = gmt_ledger_new(record.arena);
	}
	return record.ledger;
}

/* The ledger, locked; NULL, unlocked: there is none, or the report is being taken. */
struct gmt_ledger *gmt_record_lock(void)
{
	struct gmt_ledger *ledger;

	pthread_mutex_lock(&record.lock);
	ledger = atomic_load_explicit(&record.draining, memory_order_relaxed) ? NULL : the_ledger();
	if (!ledger)
		pthread_mutex_unlock(&record.lock);
	return ledger;
}

void gmt_record_unlock(void)
{
	pthread_mutex_unlock(&record.lock);
}

static void count_loss(void)
{
	gmt_count(atomic_load(&record.draining) ? GMT_COUNT_late_events : GMT_COUNT_dropped_events);
}

/* Counts a hook call; of every 64th the time is taken from started. Under the lock. */
static void account(struct gmt_ledger *ledger, uint64_t started)
{
	if (ledger->hook_calls++ % TIMED_EVERY == 0)
		ledger->hook_ns += (gmt_now_ns() - started) * TIMED_EVERY;
}

void gmt_record_alloc(struct gmt_call call, enum gmt_kind kind, uint64_t addr, uint64_t bytes,
		      uint64_t pool, struct gmt_place place)
{
	struct gmt_event event = {
		.addr = addr,
		.bytes = bytes,
		.pool = pool,
		.api = call.api,
		.kind = (uint8_t)kind,
		.route = (uint8_t)call.route,
		.device = place.device,
		.context = place.context,
	};
	struct gmt_ledger *ledger;
	bool kept = false, replaced = false;
	int saved;

	if (!addr || !begin(&saved))
		return;
	gmt_init_activate();
	event.time_ns = gmt_now_ns();
	/* Unwinding is the slow part and may take the loader's lock: before ours. */
	event.stack = gmt_stack_capture(call.caller);
	ledger = gmt_record_lock();
	if (ledger) {
		kept = gmt_ledger_alloc(ledger, &event, &replaced);
		account(ledger, event.time_ns);
		gmt_record_unlock();
	}
	if (!kept)
		count_loss();
	if (replaced)
		gmt_count(GMT_COUNT_replaced_blocks);
	end(saved);
}

void gmt_record_event(struct gmt_call call, struct gmt_event *event, bool with_stack,
		      bool (*step)(struct gmt_ledger *ledger, const struct gmt_event *event,
				   void *data),
		      void *data)
{
	struct gmt_ledger *ledger;
	bool kept = false;
	int saved;

	if (!begin(&saved))
		return;
	if (with_stack)
		gmt_init_activate();
	event->time_ns = gmt_now_ns();
	event->api = call.api;
	event->route = (uint8_t)call.route;
	event->stack = with_stack ? gmt_stack_capture(call.caller) : 0;
	ledger = gmt_record_lock();
	if (ledger) {
		kept = step(ledger, event, data);
		account(ledger, event->time_ns);
		gmt_record_unlock();
	}
	if (!kept)
		count_loss();
	end(saved);
}

void gmt_record_failed(void)
{
	struct gmt_ledger *ledger;
	int saved;

	if (!begin(&saved))
		return;
	gmt_init_activate();
	ledger = gmt_record_lock();
	if (ledger) {
		ledger->failed_allocations++;
		gmt_record_unlock();
	}
	end(saved);
}

void gmt_record_claim(uint64_t addr, struct gmt_claim *claim)
{
	struct gmt_ledger *ledger;
	uint64_t now;
	int saved;

	claim->claimed = 0;
	if (!addr || !begin(&saved))
		return;
	now = gmt_now_ns();
	ledger = gmt_record_lock();
	if (ledger) {
		gmt_ledger_free(ledger, addr, now, claim);
		account(ledger, now);
		gmt_record_unlock();
	}
	end(saved);
}

void gmt_record_freed(struct gmt_claim *claim, enum gmt_freed outcome)
{
	struct gmt_ledger *ledger;
	bool kept = true;
	int saved;

	if (!claim->claimed || (outcome == GMT_FREED && !claim->uses))
		return;
	if (!begin(&saved))
		return;
	ledger = gmt_record_lock();
	if (ledger) {
		if (outcome == GMT_FREED)
			gmt_ledger_freed(ledger, claim);
		else
			kept = gmt_ledger_unfree(ledger, claim,
						 outcome == GMT_FREED_TEARDOWN ? GMT_BLOCK_TEARDOWN
									       : GMT_BLOCK_LIVE);
		gmt_record_unlock();
	}
	if (!kept)
		count_loss();
	end(saved);
}

static void record_bad_free(struct gmt_call call, uint64_t addr, uint32_t frees,
			    const struct gmt_claim *claim)
{
	struct gmt_event event = { .addr = addr, .api = call.api };
	bool wrong_family = claim->claimed && !(frees >> claim->event.kind & 1);
	struct gmt_ledger *ledger;
	bool kept = false;
	int saved;

	if (!begin(&saved))
		return;
	event.time_ns = gmt_now_ns();
	event.stack = gmt_stack_capture(call.caller);
	ledger = gmt_record_lock();
	if (ledger) {
		kept = gmt_ledger_bad_free(ledger, &event, claim, wrong_family);
		gmt_record_unlock();
	}
	if (!kept)
		gmt_count(GMT_COUNT_dropped_errors);
	end(saved);
}

void gmt_record_free_ended(struct gmt_call call, uint64_t addr, uint32_t frees,
			   struct gmt_claim *claim, enum gmt_freed outcome)
{
	gmt_record_freed(claim, outcome);
	if (!addr || outcome == GMT_FREED_TEARDOWN)
		return;
	if (outcome == GMT_FREED_REFUSED)
		record_bad_free(call, addr, frees, claim);
	else if (!claim->claimed)
		gmt_count(GMT_COUNT_unknown_frees);
}

void gmt_record_reclaim(uint32_t context)
{
	struct gmt_ledger *ledger;
	int saved;

	if (!begin(&saved))
		return;
	ledger = gmt_record_lock();
	if (ledger) {
		gmt_ledger_reclaim(ledger, context, gmt_now_ns());
		gmt_record_unlock();
	}
	end(saved);
}

void gmt_record_launch(uint32_t kernel, uint64_t stream, const uint64_t *words, uint32_t nr_words)
{
	struct gmt_ledger *ledger;
	int saved;

	if (!begin(&saved))
		return;
	ledger = gmt_record_lock();
	if (ledger) {
		if (!gmt_ledger_launch(ledger, kernel, stream, words, nr_words))
			gmt_count(GMT_COUNT_dropped_launches);
		gmt_record_unlock();
	}
	end(saved);
}

struct gmt_ledger *gmt_record_finish(void)
{
	struct timespec limit;
	struct gmt_ledger *ledger = NULL;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += FINISH_WAIT_S;
	if (pthread_mutex_timedlock(&record.lock, &limit) != 0)
		return NULL;
	ledger = the_ledger();
	atomic_store(&record.draining, true);
	pthread_mutex_unlock(&record.lock);
	if (ledger)
		ledger->host_bytes = gmt_arena_bytes(record.arena) + gmt_stack_bytes();
	return ledger;
}

void gmt_record_forked(void)
{
	/* The parent's arena is left mapped: another thread of it may have been inside. */
	pthread_mutex_init(&record.lock, NULL);
	record.arena = NULL;
	record.ledger = NULL;
	gmt_guard_depth = 0;
	atomic_store(&record.draining, false);
	atomic_store(&record.used_cuda, false);
}
