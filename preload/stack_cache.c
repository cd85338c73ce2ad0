/* Owns the learned stacks. Runs in the application's threads, in the hot path. */
#include "preload/stack_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "preload/arena.h"

#define SLOTS	    4096 /* a power of two; a stack may lie in two of them */
#define RIPE	    16	 /* times in a row before a stack is learned */
#define LEARNED_MAX 8192

struct learned {
	uintptr_t thread; /* its stack's places mean nothing on another */
	uint32_t id, count;
	struct gmt_return returns[];
};

static struct {
	_Atomic(struct learned *) slots[SLOTS];
	/* The id that came last at a slot, and how often in a row in the low 8 bits. */
	atomic_uint_fast64_t seen[SLOTS];
	pthread_mutex_t lock; /* guards the arena; a leaf */
	struct gmt_arena *arena;
	uint32_t nr_learned;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The thread control block's address: of two threads alive at once, never the same. */
static uintptr_t this_thread(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}

static unsigned int slot_of(const uintptr_t *innermost)
{
	uint64_t hash = ((uintptr_t)innermost ^ *innermost << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return hash >> 50 & (SLOTS - 1);
}

/* From the inside outwards, so that a place is read only while all within it are as they were. */
static bool stands(const struct learned *learned, const uintptr_t *innermost, uintptr_t thread)
{
	if (learned->thread != thread || learned->returns[0].place != innermost)
		return false;
	for (uint32_t i = 0; i < learned->count; i++)
		if (*learned->returns[i].place != learned->returns[i].address)
			return false;
	return true;
}

uint32_t gmt_stack_cache_find(const uintptr_t *innermost)
{
	unsigned int slot = slot_of(innermost);
	uintptr_t thread = this_thread();

	for (int way = 0; way < 2; way++, slot ^= 1) {
		struct learned *learned =
			atomic_load_explicit(&cache.slots[slot], memory_order_acquire);

		if (learned && stands(learned, innermost, thread))
			return learned->id;
	}
	return 0;
}

bool gmt_stack_cache_ripe(const uintptr_t *innermost, uint32_t id)
{
	unsigned int slot = slot_of(innermost) ^ (id & 1);
	uint64_t seen = atomic_load_explicit(&cache.seen[slot], memory_order_relaxed);

	seen = seen >> 8 == id ? seen + 1 : (uint64_t)id << 8 | 1;
	if ((seen & 0xff) < RIPE) {
		atomic_store_explicit(&cache.seen[slot], seen, memory_order_relaxed);
		return false;
	}
	atomic_store_explicit(&cache.seen[slot], 0, memory_order_relaxed);
	return true;
}

void gmt_stack_cache_learn(uint32_t id, const struct gmt_return *returns, uint32_t count)
{
	struct learned *learned = NULL;

	pthread_mutex_lock(&cache.lock);
	if (!cache.arena)
		cache.arena = gmt_arena_new();
	if (cache.arena && cache.nr_learned < LEARNED_MAX)
		learned = gmt_arena_alloc(cache.arena, sizeof(*learned) + count * sizeof(*returns));
	if (learned)
		cache.nr_learned++;
	pthread_mutex_unlock(&cache.lock);
	if (!learned)
		return;
	learned->thread = this_thread();
	learned->id = id;
	learned->count = count;
	memcpy(learned->returns, returns, count * sizeof(*returns));
	atomic_store_explicit(&cache.slots[slot_of(returns[0].place) ^ (id & 1)], learned,
			      memory_order_release);
}

uint64_t gmt_stack_cache_bytes(void)
{
	return cache.arena ? gmt_arena_bytes(cache.arena) : 0;
}

void gmt_stack_cache_forked(void)
{
	if (!cache.arena)
		return;
	pthread_mutex_init(&cache.lock, NULL);
	for (int i = 0; i < SLOTS; i++)
		atomic_store_explicit(&cache.slots[i], NULL, memory_order_relaxed);
	cache.arena = NULL;
	cache.nr_learned = 0;
}
