/*
 * Owns the files that names are read from: opened once per module, closed at the end. An address
 * is named only from a file with the module's own build-id: names of another build would lie.
 *
 * Files are the traced program's and may be anything. libdw reads them; if one makes it hang or
 * crash, the program gmtrace ends, and the traced process writes a report without names.
 */
#define _GNU_SOURCE
#include "report/symbolize.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/symbolize_dwarf.h"

/* A name that is longer is nobody's. */
#define NAME_MAX_BYTES 16384

struct string {
	struct string *next;
	char text[];
};

struct file {
	uint32_t id; /* of the module */
	Dwfl *dwfl;  /* NULL: no file, or not the right one */
	Dwfl_Module *module;
	struct gmt_dwarf *dwarf;
	struct file *next;
};

struct demangled {
	const char *raw;
	const char *text;
};

struct symbolizer {
	struct gmt_symbolizer base;
	int pid;
	struct file *files;
	struct string *strings;
	struct demangled *table; /* open addressing, a power of two */
	size_t room, count;
};

static struct symbolizer *own(struct gmt_symbolizer *base)
{
	return (struct symbolizer *)base;
}

/* A copy that lives as long as the symbolizer. NULL: no memory. */
static const char *keep(struct symbolizer *self, const char *text)
{
	size_t bytes = strnlen(text, NAME_MAX_BYTES);
	struct string *string = malloc(sizeof(*string) + bytes + 1);

	if (!string)
		return NULL;
	memcpy(string->text, text, bytes);
	string->text[bytes] = '\0';
	string->next = self->strings;
	self->strings = string;
	return string->text;
}

static size_t hash_of(const char *text)
{
	size_t hash = 5381;

	for (; *text; text++)
		hash = hash * 33 + (unsigned char)*text;
	return hash;
}

static struct demangled *entry_of(struct demangled *table, size_t room, const char *raw)
{
	size_t at = hash_of(raw) & (room - 1);

	while (table[at].raw && strcmp(table[at].raw, raw) != 0)
		at = (at + 1) & (room - 1);
	return &table[at];
}

static bool widen(struct symbolizer *self)
{
	size_t wider = self->room ? self->room * 2 : 1024;
	struct demangled *table;

	if (self->count * 2 < self->room)
		return true;
	table = calloc(wider, sizeof(*table));
	if (!table)
		return false;
	for (size_t i = 0; i < self->room; i++)
		if (self->table[i].raw)
			*entry_of(table, wider, self->table[i].raw) = self->table[i];
	free(self->table);
	self->table = table;
	self->room = wider;
	return true;
}

static const char *demangle(struct gmt_symbolizer *base, const char *raw)
{
	struct symbolizer *self = own(base);
	struct demangled *entry;
	const char *text;
	char *made;

	if (strncmp(raw, "_Z", 2) != 0 || strnlen(raw, NAME_MAX_BYTES) == NAME_MAX_BYTES ||
	    !widen(self))
		return raw;
	entry = entry_of(self->table, self->room, raw);
	if (entry->raw)
		return entry->text;
	made = gmt_demangle(raw);
	text = made ? keep(self, made) : NULL;
	free(made);
	entry->raw = keep(self, raw);
	if (!entry->raw)
		return raw;
	entry->text = text ? text : entry->raw;
	self->count++;
	return entry->text;
}

/* A regular file, without waiting for anything that only looks like one. -1: none. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat facts;

	if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool same_build(Dwfl_Module *module, const struct gmt_module *facts)
{
	const unsigned char *bits;
	GElf_Addr vaddr;
	int bytes = dwfl_module_build_id(module, &bits, &vaddr);

	if (facts->build_id_bytes == 0)
		return bytes <= 0;
	return bytes >= (int)facts->build_id_bytes &&
	       memcmp(bits, facts->build_id, facts->build_id_bytes) == 0;
}

/*
 * Reports the ELF file at the addresses that stand in it, so that an offset is an address, for
 * position-independent files and for others.
 */
static bool open_file(struct file *file, const struct gmt_module *facts, const char *path)
{
	static char *debuginfo_path = NULL; /* the usual places */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debuginfo_path,
	};
	int fd = open_regular(path);

	if (fd < 0)
		return false;
	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
		if (file->module)
			fd = -1; /* libdwfl's now */
		if (dwfl_report_end(file->dwfl, NULL, NULL) == 0 && file->module &&
		    same_build(file->module, facts))
			return true;
		dwfl_end(file->dwfl);
		file->dwfl = NULL;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* The file with the symbols alone has the same addresses as the file it was taken from. */
static bool open_debug_file(struct file *file, const struct gmt_module *facts)
{
	char path[128] = "/usr/lib/debug/.build-id/";
	size_t at = strlen(path);

	if (facts->build_id_bytes < 2 || facts->build_id_bytes > sizeof(facts->build_id))
		return false;
	for (uint32_t i = 0; i < facts->build_id_bytes; i++)
		at += (size_t)snprintf(path + at, sizeof(path) - at, "%02x%s", facts->build_id[i],
				       i == 0 ? "/" : "");
	snprintf(path + at, sizeof(path) - at, ".debug");
	return open_file(file, facts, path);
}

static void find_file(struct symbolizer *self, struct file *file, const struct gmt_module *facts)
{
	char exe[64];

	if (!facts->path || facts->path[0] != '/')
		return;
	if (open_file(file, facts, facts->path))
		return;
	/* Removed or replaced since: the program itself can still be had. */
	snprintf(exe, sizeof(exe), "/proc/%d/exe", self->pid);
	if (self->pid > 0 && facts->build_id_bytes && open_file(file, facts, exe))
		return;
	open_debug_file(file, facts);
}

static struct file *file_of(struct symbolizer *self, const struct gmt_module *module)
{
	struct file *file = self->files;

	while (file && file->id != module->id)
		file = file->next;
	if (file)
		return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->id = module->id;
	file->next = self->files;
	self->files = file;
	find_file(self, file, module);
	return file;
}

/* The symbol that holds the address; NULL: none does. */
static const char *symbol_at(struct file *file, GElf_Addr address)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(file->module, address, &offset, &symbol, NULL, NULL, NULL);

	if (!name || !*name)
		return NULL;
	if (symbol.st_size && offset >= symbol.st_size)
		return NULL;
	return name;
}

static void finish_names(struct symbolizer *self, const char *symbol, struct gmt_names *names)
{
	struct gmt_name *physical = &names->names[names->count - 1];

	/* The symbol table knows a part of a function that was moved away (.cold) as such. */
	if (symbol)
		physical->function = symbol;
	for (uint32_t i = 0; i < names->count; i++) {
		struct gmt_name *name = &names->names[i];

		if (name->function)
			name->demangled = demangle(&self->base, name->function);
	}
}

static bool resolve(struct gmt_symbolizer *base, const struct gmt_module *module, uint64_t offset,
		    struct gmt_names *names)
{
	struct symbolizer *self = own(base);
	struct file *file = file_of(self, module);
	GElf_Addr address = offset - 1; /* the call, not what comes after it */
	const char *symbol;

	names->count = 0;
	if (!file || !file->dwfl || offset == 0)
		return false;
	symbol = symbol_at(file, address);
	if (!file->dwarf)
		file->dwarf = gmt_dwarf_new(file->module);
	if (file->dwarf)
		gmt_dwarf_names(file->dwarf, address, names);
	if (names->count == 0) {
		if (!symbol)
			return false;
		names->count = 1;
		names->names[0] = (struct gmt_name){ .function = NULL };
	}
	finish_names(self, symbol, names);
	return true;
}

struct gmt_symbolizer *gmt_symbolizer_new(int pid)
{
	struct symbolizer *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base.resolve = resolve;
	self->base.demangle = demangle;
	self->pid = pid;
	return &self->base;
}

void gmt_symbolizer_free(struct gmt_symbolizer *base)
{
	struct symbolizer *self = base ? own(base) : NULL;

	if (!self)
		return;
	while (self->files) {
		struct file *file = self->files;

		self->files = file->next;
		gmt_dwarf_free(file->dwarf);
		if (file->dwfl)
			dwfl_end(file->dwfl);
		free(file);
	}
	while (self->strings) {
		struct string *string = self->strings;

		self->strings = string->next;
		free(string);
	}
	free(self->table);
	free(self);
}
