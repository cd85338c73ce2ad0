/*
 * Owns the table of real entries. Any thread, at any time, also before constructors and inside
 * look-ups: freestanding like lookup.c, calls nothing of libc but dlvsym and what that returned.
 */
#define _GNU_SOURCE
#include "preload/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

gmt_dlsym_fn *gmt_real_dlsym;
gmt_dlopen_fn *gmt_real_dlopen;
gmt_dlsym_fn *gmt_next_dlsym;
gmt_dlopen_fn *gmt_next_dlopen;

static const char *const names[GMT_NR_ENTRIES] = {
#define GMT_ALLOC(symbol, runtime, kind, params, args, address, bytes, pool)                       \
	[GMT_API_##symbol] = #symbol,
#define GMT_FREE(symbol, runtime, frees, in_graph, params, args, address)                          \
	[GMT_API_##symbol] = #symbol,
#define GMT_CUSTOM(symbol, runtime, file) [GMT_API_##symbol] = #symbol,
#define GMT_USED(symbol)		  [GMT_API_##symbol] = #symbol,
#include "preload/driver_apis.def"
};

static struct {
	_Atomic(void *) entries[GMT_NR_ENTRIES];
	_Atomic(void *) driver;
	_Atomic(uintptr_t) driver_lo, driver_hi;
	atomic_bool filled;
} real;

/*
 * By its version, so that it is libc's: another tool's has none. Newest first: a name's version is
 * that of the glibc in which it moved.
 */
void *gmt_real_of_libc(const char *name)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.10",
						"GLIBC_2.2.5" };

	for (unsigned int i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		void *symbol = dlvsym(RTLD_NEXT, name, versions[i]);

		if (symbol)
			return symbol;
	}
	return NULL;
}

void gmt_real_bootstrap(void)
{
	gmt_dlsym_fn *dlsym_of_libc;

	if (__atomic_load_n(&gmt_real_dlsym, __ATOMIC_ACQUIRE))
		return;
	dlsym_of_libc = (gmt_dlsym_fn *)gmt_real_of_libc("dlsym");
	/* Two threads may both come here: they find the same. dlsym last, it is the flag. */
	__atomic_store_n(&gmt_real_dlopen, (gmt_dlopen_fn *)gmt_real_of_libc("dlopen"),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&gmt_next_dlopen, (gmt_dlopen_fn *)dlsym_of_libc(RTLD_NEXT, "dlopen"),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&gmt_next_dlsym, (gmt_dlsym_fn *)dlsym_of_libc(RTLD_NEXT, "dlsym"),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&gmt_real_dlsym, dlsym_of_libc, __ATOMIC_RELEASE);
}

void *gmt_real_next(const char *name)
{
	gmt_real_bootstrap();
	return gmt_real_dlsym(RTLD_NEXT, name);
}

/* The extent of a loaded library, from the program headers at its base; a handle is a link_map. */
static void note_extent(void *handle)
{
	uintptr_t base = ((struct link_map *)handle)->l_addr;
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) * segment;
	uintptr_t end = 0;

	if (!base || header->e_ident[EI_MAG0] != ELFMAG0 || header->e_ident[EI_MAG1] != ELFMAG1)
		return;
	segment = (const ElfW(Phdr) *)(base + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++, segment++)
		if (segment->p_type == PT_LOAD && segment->p_vaddr + segment->p_memsz > end)
			end = segment->p_vaddr + segment->p_memsz;
	atomic_store(&real.driver_hi, base + end);
	atomic_store(&real.driver_lo, base);
}

void *gmt_real_driver(bool load)
{
	void *handle = atomic_load_explicit(&real.driver, memory_order_acquire);

	if (handle)
		return handle;
	gmt_real_bootstrap();
	handle = gmt_real_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!handle && load)
		handle = gmt_real_dlopen("libcuda.so.1", RTLD_LAZY);
	if (!handle)
		return NULL;
	note_extent(handle);
	atomic_store_explicit(&real.driver, handle, memory_order_release);
	return handle;
}

bool gmt_real_in_driver(uintptr_t address)
{
	return address >= atomic_load_explicit(&real.driver_lo, memory_order_relaxed) &&
	       address < atomic_load_explicit(&real.driver_hi, memory_order_relaxed);
}

/* glibc's own lock-free look-up of the object at an address; declared here for older headers. */
struct found_object {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *frames;
	unsigned long long reserved[7];
};

bool gmt_real_is_vendor_tool(uintptr_t address)
{
	static _Atomic(void *) finder;
	static const char *const prefixes[] = { "libcupti", "libnvidia-", "libcuda.so" };
	int (*find)(void *, struct found_object *) =
		(int (*)(void *, struct found_object *))atomic_load(&finder);
	struct found_object found;
	const char *base;

	if (!find) {
		find = (int (*)(void *, struct found_object *))dlvsym(RTLD_NEXT, "_dl_find_object",
								      "GLIBC_2.35");
		if (!find)
			return false;
		atomic_store(&finder, (void *)find);
	}
	if (find((void *)address, &found) != 0 || !found.map || !found.map->l_name)
		return false;
	base = found.map->l_name;
	for (const char *at = base; *at; at++)
		if (*at == '/')
			base = at + 1;
	for (unsigned int i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const char *a = base, *b = prefixes[i];

		while (*b && *a == *b) {
			a++;
			b++;
		}
		if (!*b)
			return true;
	}
	return false;
}

static void fill(void *handle)
{
	for (int i = 0; i < GMT_NR_ENTRIES; i++)
		if (names[i])
			atomic_store_explicit(&real.entries[i], gmt_real_dlsym(handle, names[i]),
					      memory_order_relaxed);
	atomic_store_explicit(&real.filled, true, memory_order_release);
}

void *gmt_real(unsigned int id)
{
	void *handle;

	if (!atomic_load_explicit(&real.filled, memory_order_acquire)) {
		handle = gmt_real_driver(true);
		if (!handle)
			return NULL;
		fill(handle);
	}
	return atomic_load_explicit(&real.entries[id], memory_order_relaxed);
}

const char *gmt_real_name(unsigned int id)
{
	return names[id];
}
