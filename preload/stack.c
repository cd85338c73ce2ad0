/*
 * Owns the table of stacks; the only file that knows libunwind. Runs in the application's threads,
 * before any lock is taken: unwinding takes the loader's.
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY /* the names that libunwind.so has */
#include "preload/stack.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "preload/arena.h"
#include "preload/counters.h"
#include "preload/diag.h"
#include "preload/modules.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/self.h"
#include "preload/stack_cache.h"

#define HASH_NONFATAL_OOM	   1
#define uthash_malloc(bytes)	   gmt_arena_alloc(stacks.arena, bytes)
#define uthash_free(memory, bytes) gmt_arena_free(stacks.arena, memory, bytes)

struct interned;

#define RECENT 1024 /* a power of two */

static struct {
	/* Entries never change once they are here, so that a stack seen before takes no lock. */
	_Atomic(struct interned *) recent[RECENT];
	pthread_mutex_t lock;
	struct gmt_arena *arena;
	struct interned *table;
	uint32_t nr_stacks;
	unsigned int depth;
	/* libunwind's unw_backtrace; NULL: stacks are off. */
	_Atomic(void *) backtrace;
	/* Its cursor, for learning; NULL: nothing is learned. */
	int (*getcontext)(unw_context_t *);
	__typeof__(&unw_init_local) init_local;
	__typeof__(&unw_step) step;
	__typeof__(&unw_get_reg) get_reg;
} stacks = { .lock = PTHREAD_MUTEX_INITIALIZER };

#include <uthash.h>

struct interned {
	uint64_t hash;
	uint32_t id;
	uint32_t count;
	struct interned *same_hash; /* another stack with this hash */
	UT_hash_handle hh;
	uintptr_t addresses[];
};

#define OWN_FRAMES 8 /* at most this many frames of a captured stack are ours */

#define TEXT(name)   #name
#define SYMBOL(name) TEXT(name) /* libunwind's names are macros for those of the architecture */

static void find_cursor(void *handle)
{
	stacks.getcontext = gmt_real_dlsym(handle, SYMBOL(unw_tdep_getcontext));
	stacks.init_local = gmt_real_dlsym(handle, SYMBOL(unw_init_local));
	stacks.step = gmt_real_dlsym(handle, SYMBOL(unw_step));
	stacks.get_reg = gmt_real_dlsym(handle, SYMBOL(unw_get_reg));
	if (!stacks.init_local || !stacks.step || !stacks.get_reg)
		stacks.getcontext = NULL;
}

/*
 * As unw_backtrace, which keeps something for each thread and takes a lock when the thread has
 * ended. ThreadSanitizer, whose lock it is, has left the thread by then, and crashes.
 */
static int backtrace_by_steps(void **addresses, int max)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t address;
	int count = 0;

	if (stacks.getcontext(&context) != 0 || stacks.init_local(&cursor, &context) != 0)
		return 0;
	do {
		if (stacks.get_reg(&cursor, UNW_REG_IP, &address) != 0 || !address)
			break;
		addresses[count++] = (void *)address;
	} while (count < max && stacks.step(&cursor) > 0);
	return count;
}

bool gmt_stack_start(const char *own_directory, unsigned int depth)
{
	/* liblzma first: libunwind needs it and would look in the system's directories only. */
	static const char *const shipped[] = { "/liblzma.so.5", "/libunwind.so.8" };
	char path[4096];
	void *handle = NULL, *symbol;

	stacks.depth = depth;
	for (int i = 0; i < 2 && strlen(own_directory) < sizeof(path) - 32; i++) {
		strcpy(path, own_directory);
		strcat(path, shipped[i]);
		handle = gmt_real_dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (!handle)
		handle = gmt_real_dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	symbol = handle ? gmt_real_dlsym(handle, "unw_backtrace") : NULL;
	if (!symbol) {
		gmt_diag("no call stacks: libunwind.so.8 is neither beside libgmtrace.so nor "
			 "installed (stacks=0 silences this)",
			 NULL);
		gmt_record_note("no call stacks: libunwind.so.8 was not found");
		return false;
	}
	find_cursor(handle);
	if (stacks.getcontext && gmt_real_dlsym(RTLD_DEFAULT, "__tsan_init"))
		symbol = (void *)backtrace_by_steps;
	atomic_store_explicit(&stacks.backtrace, symbol, memory_order_release);
	return true;
}

static uint64_t hash_addresses(const uintptr_t *addresses, uint32_t count)
{
	uint64_t hash = count;

	for (uint32_t i = 0; i < count; i++) {
		hash = (hash ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

static bool is_stack(const struct interned *entry, const uintptr_t *addresses, uint32_t count)
{
	return entry->count == count &&
	       memcmp(entry->addresses, addresses, count * sizeof(*addresses)) == 0;
}

/* Under the lock. */
static struct interned *find(const uintptr_t *addresses, uint32_t count, uint64_t hash)
{
	struct interned *found;

	HASH_FIND_BYHASHVALUE(hh, stacks.table, &hash, sizeof(hash), (unsigned int)hash, found);
	while (found && !is_stack(found, addresses, count))
		found = found->same_hash;
	return found;
}

/* Under the lock. NULL: no memory. */
static struct interned *add(const uintptr_t *addresses, uint32_t count, uint64_t hash)
{
	struct interned *first, *added;

	if (!stacks.arena)
		stacks.arena = gmt_arena_new();
	if (!stacks.arena)
		return NULL;
	added = gmt_arena_alloc(stacks.arena, sizeof(*added) + count * sizeof(*addresses));
	if (!added)
		return NULL;
	added->hash = hash;
	added->count = count;
	added->same_hash = NULL;
	memcpy(added->addresses, addresses, count * sizeof(*addresses));
	HASH_FIND_BYHASHVALUE(hh, stacks.table, &hash, sizeof(hash), (unsigned int)hash, first);
	if (first) {
		added->same_hash = first->same_hash;
		first->same_hash = added;
	} else {
		HASH_ADD_KEYPTR_BYHASHVALUE(hh, stacks.table, &added->hash, sizeof(added->hash),
					    (unsigned int)hash, added);
		if (!added->hh.tbl)
			return NULL;
	}
	added->id = ++stacks.nr_stacks;
	return added;
}

static uint32_t intern(const uintptr_t *addresses, uint32_t count)
{
	uint64_t hash = hash_addresses(addresses, count);
	struct gmt_frame frames[GMT_MAX_FRAMES];
	_Atomic(struct interned *) *recent = &stacks.recent[hash >> 20 & (RECENT - 1)];
	struct interned *entry = atomic_load_explicit(recent, memory_order_acquire);
	bool fresh;

	if (entry && is_stack(entry, addresses, count))
		return entry->id;
	pthread_mutex_lock(&stacks.lock);
	entry = find(addresses, count, hash);
	fresh = !entry;
	if (fresh)
		entry = add(addresses, count, hash);
	pthread_mutex_unlock(&stacks.lock);
	if (!entry) {
		gmt_count(GMT_COUNT_lost_stacks);
		return 0;
	}
	/* Now, not at the end: a plugin may be closed by then. */
	if (fresh) {
		gmt_modules_resolve(addresses, count, frames);
		gmt_record_stack(entry->id, frames, count);
	}
	atomic_store_explicit(recent, entry, memory_order_release);
	return entry->id;
}

/*
 * Where the return addresses of a captured stack stand: below the frame address of each step. What
 * does not fit together (a signal's frame, a stack cut at its depth) is not learned.
 */
static void learn(const uintptr_t *caller, uint32_t id, const uintptr_t *addresses, uint32_t count)
{
	struct gmt_return returns[GMT_MAX_FRAMES];
	uint32_t found = 0;
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t address, frame;

	if (!stacks.getcontext || stacks.getcontext(&context) != 0 ||
	    stacks.init_local(&cursor, &context) != 0)
		return;
	while (found < count && stacks.step(&cursor) > 0) {
		if (stacks.get_reg(&cursor, UNW_REG_IP, &address) != 0 ||
		    stacks.get_reg(&cursor, UNW_REG_SP, &frame) != 0)
			return;
		if (found == 0 && frame - sizeof(uintptr_t) != (uintptr_t)caller)
			continue; /* still inside the recorder */
		returns[found].place = (const uintptr_t *)frame - 1;
		returns[found].address = addresses[found];
		if (address != addresses[found] || *returns[found].place != address)
			return;
		found++;
	}
	if (found == count)
		gmt_stack_cache_learn(id, returns, count);
}

static uint32_t unwind(const uintptr_t *caller)
{
	int (*backtrace)(void **, int) = (int (*)(void **, int))atomic_load_explicit(
		&stacks.backtrace, memory_order_acquire);
	uintptr_t addresses[GMT_MAX_FRAMES + OWN_FRAMES];
	int count, own = 0;
	uint32_t id;

	if (!backtrace)
		return 0;
	count = backtrace((void **)addresses, (int)stacks.depth + OWN_FRAMES);
	while (own < count && gmt_is_self(addresses[own]))
		own++;
	count -= own;
	if (count <= 0) {
		gmt_count(GMT_COUNT_unwind_failures);
		return 0;
	}
	if ((unsigned int)count > stacks.depth)
		count = (int)stacks.depth;
	id = intern(addresses + own, (uint32_t)count);
	if (caller && id && gmt_stack_cache_ripe(caller, id))
		learn(caller, id, addresses + own, (uint32_t)count);
	return id;
}

uint32_t gmt_stack_capture(const uintptr_t *caller)
{
	uint32_t id = caller ? gmt_stack_cache_find(caller) : 0;

	return id ? id : unwind(caller);
}

uint64_t gmt_stack_bytes(void)
{
	return (stacks.arena ? gmt_arena_bytes(stacks.arena) : 0) + gmt_stack_cache_bytes();
}

void gmt_stack_forked(void)
{
	gmt_stack_cache_forked();
	if (!stacks.arena)
		return; /* nothing was captured: the child of a process without CUDA pays nothing */
	pthread_mutex_init(&stacks.lock, NULL);
	for (int i = 0; i < RECENT; i++)
		atomic_store_explicit(&stacks.recent[i], NULL, memory_order_relaxed);
	stacks.arena = NULL;
	stacks.table = NULL;
	stacks.nr_stacks = 0;
}
