/*
 * Owns the search for libcupti. Runs once, on the thread that called cuInit, with no lock held.
 * Opens and looks up by the real dlopen and dlsym: ours would take it for the program.
 */
#ifndef GMT_NO_CUPTI
#define _GNU_SOURCE
#include "cupti/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/real.h"

#define PATH_ROOM 1024
#define MAX_DIRS  8
#define DIR_ROOM  512

/* Newest first; 11 had a name for each minor version. */
static const struct {
	int major;
	const char *name;
} sonames[] = {
	{ 13, "libcupti.so.13" },   { 12, "libcupti.so.12" },	{ 11, "libcupti.so.11.8" },
	{ 11, "libcupti.so.11.7" }, { 11, "libcupti.so.11.6" }, { 11, "libcupti.so.11.5" },
	{ 11, "libcupti.so.11.4" }, { 11, "libcupti.so.11.3" }, { 11, "libcupti.so.11.2" },
};
#define NR_SONAMES (sizeof(sonames) / sizeof(sonames[0]))

/* Where it lies, seen from where the toolkit's other libraries lie. */
static const char *const toolkit_dirs[] = { "extras/CUPTI/lib64", "lib64", "lib" };
static const char *const library_dirs[] = {
	".",			 /* pip, CUDA 13: nvidia/cu13/lib holds them all */
	"../../cuda_cupti/lib",	 /* pip, CUDA 12: nvidia/<package>/lib */
	"../extras/CUPTI/lib64", /* the toolkit's lib64 */
};

/* Directories of loaded libraries of CUDA's. */
struct dirs {
	char paths[MAX_DIRS][DIR_ROOM];
	unsigned int count;
};

static bool is_cuda_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (strncmp(name, "/libcudart.so", 13) == 0 || strstr(path, "/nvidia/"));
}

/* Under the loader's lock: no allocation, nothing but the copy. */
static int note_dir(struct dl_phdr_info *info, size_t bytes, void *data)
{
	const char *path = info->dlpi_name;
	struct dirs *dirs = data;
	size_t length;

	(void)bytes;
	if (!path || path[0] != '/' || !is_cuda_library(path))
		return 0;
	length = (size_t)(strrchr(path, '/') - path);
	if (length >= DIR_ROOM)
		return 0;
	for (unsigned int i = 0; i < dirs->count; i++)
		if (strncmp(dirs->paths[i], path, length) == 0 && !dirs->paths[i][length])
			return 0;
	memcpy(dirs->paths[dirs->count], path, length);
	dirs->paths[dirs->count++][length] = '\0';
	return dirs->count == MAX_DIRS;
}

static void *open_at(const char *root, const char *dir, const char *name)
{
	char path[PATH_ROOM];
	int length = snprintf(path, sizeof(path), "%s/%s/%s", root, dir, name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return NULL;
	return gmt_real_dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_toolkit(const char *root, const char *name)
{
	void *handle = NULL;

	for (size_t i = 0;
	     root && *root && !handle && i < sizeof(toolkit_dirs) / sizeof(toolkit_dirs[0]); i++)
		handle = open_at(root, toolkit_dirs[i], name);
	return handle;
}

static void *open_beside(const struct dirs *dirs, const char *name)
{
	void *handle = NULL;

	for (unsigned int i = 0; i < dirs->count && !handle; i++)
		for (size_t j = 0; j < sizeof(library_dirs) / sizeof(library_dirs[0]) && !handle;
		     j++)
			handle = open_at(dirs->paths[i], library_dirs[j], name);
	return handle;
}

static void *open_named(const char *name)
{
	struct dirs dirs = { .count = 0 };
	void *handle = gmt_real_dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		handle = open_toolkit(getenv("CUDA_HOME"), name);
	if (!handle)
		handle = open_toolkit(getenv("CUDA_PATH"), name);
	if (!handle)
		handle = open_toolkit("/usr/local/cuda", name);
	if (!handle) {
		dl_iterate_phdr(note_dir, &dirs);
		handle = open_beside(&dirs, name);
	}
	return handle;
}

/* False: it cannot be used. The library stays open: closing one that others use is a risk. */
static bool look_up(void *handle, struct gmt_cupti_api *api, char *reason, size_t room)
{
	const struct {
		const char *name;
		size_t offset;
	} entries[] = {
#define GMT_ENTRY(symbol) { #symbol, offsetof(struct gmt_cupti_api, symbol) },
		GMT_CUPTI_ENTRIES(GMT_ENTRY)
#undef GMT_ENTRY
	};
	const char *toolkit;
	uint32_t oldest = gmt_layout_oldest(&toolkit);
	void *symbol;

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		symbol = gmt_real_dlsym(handle, entries[i].name);
		if (!symbol) {
			snprintf(reason, room, "libcupti has no %s", entries[i].name);
			return false;
		}
		memcpy((char *)api + entries[i].offset, &symbol, sizeof(symbol));
	}
#if CUPTI_API_VERSION >= 130000
	symbol = gmt_real_dlsym(handle, "cuptiSubscribe_v2");
	memcpy(&api->cuptiSubscribe_v2, &symbol, sizeof(symbol));
#endif
	if (api->cuptiGetVersion(&api->version) != CUPTI_SUCCESS) {
		snprintf(reason, room, "libcupti does not tell its version");
		return false;
	}
	api->layout = gmt_layout_choose(api->version);
	if (!api->layout)
		snprintf(reason, room, "libcupti is too old: API version %u, needs %u (%s)",
			 api->version, oldest, toolkit);
	return api->layout != NULL;
}

bool gmt_loader_open(int driver, struct gmt_cupti_api *api, char *reason, size_t room)
{
	void *handle = NULL;
	bool usable = false;

	gmt_real_bootstrap();
	snprintf(reason, room, "libcupti.so.%d was not found: set CUDA_HOME or LD_LIBRARY_PATH",
		 driver / 1000);
	for (size_t i = 0; i < NR_SONAMES && !handle; i++)
		handle = gmt_real_dlopen(sonames[i].name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (handle)
		usable = look_up(handle, api, reason, room);
	/* A driver serves the CUPTI of its own and of older majors, not of newer ones. */
	for (size_t i = 0; i < NR_SONAMES && !handle && !usable; i++) {
		void *found =
			sonames[i].major <= driver / 1000 ? open_named(sonames[i].name) : NULL;

		if (found)
			usable = look_up(found, api, reason, room);
	}
	/* The program must not find our failures in its dlerror. */
	dlerror();
	return usable;
}
#endif
