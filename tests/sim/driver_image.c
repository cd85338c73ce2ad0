/*
 * What a module's code says about itself: its kernels with their parameters, and its variables.
 * Accepts a cubin, PTX text, a fatbin, and nvcc's wrapper around a fatbin.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "driver_public.h"

#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC  0xba55ed50u
#define MAX_FATBIN    ((uint64_t)1 << 32)

enum { KIND_PTX = 1, KIND_ELF = 2 };

struct wrapper {
	uint32_t magic, version;
	const void *fatbin;
	const void *filename;
};

struct fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* that follow the header */
};

struct fatbin_entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes; /* that follow the header */
};

struct host_kernel {
	struct host_kernel *next;
	sim_host_kernel run;
	char name[];
};

static struct sim_image *images;
static struct host_kernel *host_kernels;

struct sim_entry *sim_image_entry(struct sim_image *image, const char *name, size_t length)
{
	struct sim_entry *entry, **link = &image->entries;

	for (; *link; link = &(*link)->next)
		if (strlen((*link)->name) == length && memcmp((*link)->name, name, length) == 0)
			return *link;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->name = strndup(name, length);
	if (!entry->name) {
		free(entry);
		return NULL;
	}
	*link = entry;
	image->nr_entries++;
	return entry;
}

bool sim_image_param(struct sim_entry *entry, unsigned int index, uint32_t offset, uint32_t size)
{
	struct sim_param *params;

	if (index > 4096)
		return false;
	if (index >= entry->nr_params) {
		params = realloc(entry->params, (index + 1) * sizeof(*params));
		if (!params)
			return false;
		memset(params + entry->nr_params, 0,
		       (index + 1 - entry->nr_params) * sizeof(*params));
		entry->params = params;
		entry->nr_params = index + 1;
	}
	entry->params[index] = (struct sim_param){ offset, size };
	if (offset + size > entry->param_bytes)
		entry->param_bytes = offset + size;
	return true;
}

bool sim_image_variable(struct sim_image *image, const char *name, size_t length, size_t bytes)
{
	struct sim_variable *variable, **link = &image->variables;

	while (*link) {
		if (strlen((*link)->name) == length && memcmp((*link)->name, name, length) == 0)
			return true;
		link = &(*link)->next;
	}
	variable = calloc(1, sizeof(*variable));
	if (!variable)
		return false;
	variable->name = strndup(name, length);
	variable->bytes = bytes;
	variable->offset = sim_round(image->variable_bytes, 256);
	image->variable_bytes = variable->offset + bytes;
	*link = variable;
	return variable->name;
}

/* Fatbins hold a payload for each architecture; all describe the same kernels: one is enough. */
static bool parse_fatbin(struct sim_image *image, const void *code, size_t limit)
{
	const struct fatbin *fatbin = code;
	const char *at, *end;
	bool found = false;

	if (limit < sizeof(*fatbin) || fatbin->header_bytes < sizeof(*fatbin) ||
	    fatbin->bytes > MAX_FATBIN || fatbin->header_bytes + fatbin->bytes > limit)
		return false;
	at = (const char *)code + fatbin->header_bytes;
	end = at + fatbin->bytes;
	while (!found && (size_t)(end - at) >= sizeof(struct fatbin_entry)) {
		struct fatbin_entry entry;
		const char *payload;

		memcpy(&entry, at, sizeof(entry));
		if (entry.header_bytes < sizeof(entry) || entry.header_bytes > (size_t)(end - at) ||
		    entry.bytes > (size_t)(end - at) - entry.header_bytes)
			break;
		payload = at + entry.header_bytes;
		if (entry.kind == KIND_ELF)
			found = sim_cubin_parse(image, payload, entry.bytes);
		else if (entry.kind == KIND_PTX && entry.bytes && payload[0] == '/')
			found = sim_ptx_parse(image, payload, entry.bytes);
		at = payload + entry.bytes;
	}
	/* What is left is compressed; nvcc --no-compress makes it readable. */
	image->opaque = !found;
	return true;
}

static bool starts_with(const char *code, size_t limit, const void *magic)
{
	/* Byte by byte: the shortest image is a line of text. */
	for (size_t i = 0; i < sizeof(uint32_t); i++)
		if (i >= limit || code[i] != ((const char *)magic)[i])
			return false;
	return true;
}

static bool parse(struct sim_image *image, const void *code, size_t limit)
{
	static const uint32_t wrapper_magic = WRAPPER_MAGIC, fatbin_magic = FATBIN_MAGIC;
	const struct wrapper *wrapper = code;

	if (starts_with(code, limit, &wrapper_magic))
		return limit == SIZE_MAX && wrapper->fatbin &&
		       starts_with(wrapper->fatbin, limit, &fatbin_magic) &&
		       parse_fatbin(image, wrapper->fatbin, limit);
	if (starts_with(code, limit, &fatbin_magic))
		return parse_fatbin(image, code, limit);
	if (starts_with(code, limit, "\177ELF"))
		return sim_cubin_parse(image, code, sim_cubin_bytes(code, limit));
	return sim_ptx_parse(image, code, strnlen(code, limit));
}

struct sim_image *sim_image_parse(const void *code, size_t limit)
{
	struct sim_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->next = images;
	images = image;
	return parse(image, code, limit) ? image : NULL;
}

sim_host_kernel sim_host_kernel_of(const char *name)
{
	for (struct host_kernel *kernel = host_kernels; kernel; kernel = kernel->next)
		if (strcmp(kernel->name, name) == 0)
			return kernel->run;
	return NULL;
}

struct sim_entry *sim_image_kernel(struct sim_image *image, const char *name)
{
	for (struct sim_entry *entry = image->entries; entry; entry = entry->next)
		if (strcmp(entry->name, name) == 0)
			return entry;
	if (!image->opaque && !sim_host_kernel_of(name))
		return NULL;
	return sim_image_entry(image, name, strlen(name));
}

void gmtsim_register_kernel(const char *mangled_name, void (*fn)(void **params))
{
	size_t length = strlen(mangled_name) + 1;
	struct host_kernel *kernel = malloc(sizeof(*kernel) + length);

	if (!kernel)
		return;
	memcpy(kernel->name, mangled_name, length);
	kernel->run = fn;
	sim_lock();
	kernel->next = host_kernels;
	host_kernels = kernel;
	sim_unlock();
}
