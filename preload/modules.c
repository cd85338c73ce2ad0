/*
 * Owns the list of loaded objects that stacks were seen in. Runs in the application's threads, in
 * the slow path of a new stack, with no lock held: dl_iterate_phdr takes the loader's.
 */
#define _GNU_SOURCE
#include "preload/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/arena.h"
#include "preload/ledger.h"
#include "preload/record.h"

#define PATH_ROOM 4096

/* An object seen once stays known: its frames may outlive it. Never freed, so readers need no lock.
 */
struct known {
	uintptr_t lo, hi, base;
	atomic_ullong generation; /* of the loader's list, when it was last there */
	uint32_t id;
	const char *path;
	struct known *next;
};

/* What one walk over the loader's list finds; looked at when its lock is given back. */
struct found {
	struct gmt_module module;
	uintptr_t lo, hi;
	char name[PATH_ROOM];
	struct found *next;
};

struct walk {
	struct gmt_arena *arena;
	struct found *found;
};

static struct {
	pthread_mutex_t lock; /* guards arena and insertion; a lock above the ledger's */
	struct gmt_arena *arena;
	_Atomic(struct known *) head;
	atomic_ullong generation; /* loads and unloads so far, as the loader counts them */
} modules = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned long long generation_of(const struct dl_phdr_info *info)
{
	return info->dlpi_adds + info->dlpi_subs;
}

static int read_generation(struct dl_phdr_info *info, size_t bytes, void *data)
{
	(void)bytes;
	*(unsigned long long *)data = generation_of(info);
	return 1;
}

static void copy_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
			  struct gmt_module *module)
{
	const char *at = (const char *)info->dlpi_addr + segment->p_vaddr;
	const char *end = at + segment->p_memsz;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		size_t name = ((size_t)note->n_namesz + 3) & ~(size_t)3;
		size_t desc = ((size_t)note->n_descsz + 3) & ~(size_t)3;

		at += sizeof(*note);
		if (name > (size_t)(end - at) || desc > (size_t)(end - at) - name)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(at, "GNU", 4) == 0) {
			module->build_id_bytes = note->n_descsz < sizeof(module->build_id)
							 ? note->n_descsz
							 : sizeof(module->build_id);
			memcpy(module->build_id, at + name, module->build_id_bytes);
			return;
		}
		at += name + desc;
	}
}

/* Under the loader's lock: own memory only, no malloc, no lock of ours. */
static int visit(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct walk *walk = data;
	struct found *found = gmt_arena_zalloc(walk->arena, sizeof(*found));

	(void)bytes;
	if (!found)
		return 1;
	found->lo = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_NOTE && !found->module.build_id_bytes)
			copy_build_id(info, segment, &found->module);
		if (segment->p_type != PT_LOAD)
			continue;
		if (start < found->lo)
			found->lo = start;
		if (start + segment->p_memsz > found->hi)
			found->hi = start + segment->p_memsz;
	}
	if (info->dlpi_name)
		strncpy(found->name, info->dlpi_name, sizeof(found->name) - 1);
	found->module.base = info->dlpi_addr;
	found->next = walk->found;
	walk->found = found;
	return 0;
}

/* The loader gives the program no name, and others the name they were asked for by. */
static void find_path(const struct found *found, char path[PATH_ROOM])
{
	ssize_t got;

	if (!found->name[0]) {
		got = readlink("/proc/self/exe", path, PATH_ROOM - 1);
		path[got > 0 ? got : 0] = '\0';
		return;
	}
	if (found->name[0] == '/' || !strchr(found->name, '/') || !realpath(found->name, path))
		memcpy(path, found->name, PATH_ROOM);
}

/* A known object at the same place under the same name is the same. */
static struct known *find_known(const struct found *found, const char *path)
{
	struct known *known = atomic_load_explicit(&modules.head, memory_order_acquire);

	while (known && (known->base != found->module.base || known->hi != found->hi ||
			 strcmp(known->path, path) != 0))
		known = known->next;
	return known;
}

/* Under modules.lock. */
static void add_known(struct found *found, const char *path, unsigned long long generation)
{
	size_t bytes = strlen(path) + 1;
	struct known *known;
	char *copy;

	if (!modules.arena)
		modules.arena = gmt_arena_new();
	if (!modules.arena)
		return;
	known = gmt_arena_zalloc(modules.arena, sizeof(*known));
	copy = gmt_arena_alloc(modules.arena, bytes);
	if (!known || !copy)
		return;
	memcpy(copy, path, bytes);
	found->module.path = path;
	found->module.bytes = found->hi - found->lo;
	known->id = gmt_record_module(&found->module);
	if (!known->id)
		return;
	known->path = copy;
	known->lo = found->lo;
	known->hi = found->hi;
	known->base = found->module.base;
	atomic_store(&known->generation, generation);
	known->next = atomic_load(&modules.head);
	atomic_store_explicit(&modules.head, known, memory_order_release);
}

static void refresh(void)
{
	struct walk walk = { NULL, NULL };
	unsigned long long now = 0;
	char path[PATH_ROOM];

	dl_iterate_phdr(read_generation, &now);
	if (now == atomic_load(&modules.generation))
		return;
	walk.arena = gmt_arena_new();
	if (!walk.arena)
		return;
	dl_iterate_phdr(visit, &walk);
	for (struct found *found = walk.found; found; found = found->next) {
		struct known *known;

		find_path(found, path);
		pthread_mutex_lock(&modules.lock);
		known = find_known(found, path);
		if (known)
			atomic_store(&known->generation, now);
		else
			add_known(found, path, now);
		pthread_mutex_unlock(&modules.lock);
	}
	gmt_arena_destroy(walk.arena);
	atomic_store(&modules.generation, now);
}

/* Of objects that lay at the same place one after the other, the newest is asked first. */
static const struct known *holder(uintptr_t address)
{
	const struct known *known = atomic_load_explicit(&modules.head, memory_order_acquire);
	const struct known *best = NULL;

	for (; known; known = known->next)
		if (address >= known->lo && address < known->hi &&
		    (!best || atomic_load(&known->generation) > atomic_load(&best->generation)))
			best = known;
	return best;
}

void gmt_modules_resolve(const uintptr_t *addresses, uint32_t count, struct gmt_frame *frames)
{
	refresh();
	for (uint32_t i = 0; i < count; i++) {
		/* A call may be the last instruction of its object: look where it was made. */
		const struct known *known = holder(addresses[i] - 1);

		frames[i] = (struct gmt_frame){
			.offset = known ? addresses[i] - known->base : addresses[i],
			.module = known ? known->id : 0,
		};
	}
}

const char *gmt_modules_path(uintptr_t address)
{
	const struct known *known;

	refresh();
	known = holder(address);
	return known ? known->path : "";
}

uint32_t gmt_modules_id(uintptr_t address, uint64_t *offset)
{
	const struct known *known;

	refresh();
	known = holder(address);
	if (!known)
		return 0;
	*offset = address - known->base;
	return known->id;
}

void gmt_modules_forked(void)
{
	/* Ids belong to the parent's ledger; the list itself is left behind. */
	pthread_mutex_init(&modules.lock, NULL);
	modules.arena = NULL;
	atomic_store(&modules.head, NULL);
	atomic_store(&modules.generation, 0);
}
