/*
 * Reads a cubin, which is an ELF64 file: kernels are the functions marked as entries, the layout of
 * their parameters is in .nv.info.<kernel>, and variables are the objects of the .nv.global and
 * .nv.constant3 sections. Every offset is checked, as code may come from anywhere.
 */
#include <elf.h>
#include <string.h>

#include "driver.h"

#define CUBIN_MACHINE 190
#define CUBIN_ENTRY   0x10 /* st_other of a kernel */
#define MAX_CUBIN     ((size_t)1 << 31)

enum { FORMAT_SIZED = 4, PARAM_INFO = 0x17, PARAM_INFO_V2 = 0x45 };

struct file {
	const char *data;
	size_t bytes;
	const Elf64_Shdr *sections;
	unsigned int nr_sections, names;
};

/* The section's bytes, or NULL if it has none or they are not in the file. */
static const char *contents(const struct file *file, const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_offset > file->bytes ||
	    section->sh_size > file->bytes - section->sh_offset)
		return NULL;
	return file->data + section->sh_offset;
}

/* A string of a string table that ends inside it, or "". */
static const char *string_at(const struct file *file, unsigned int table, uint32_t offset)
{
	const char *strings;
	const Elf64_Shdr *section;

	if (table >= file->nr_sections)
		return "";
	section = &file->sections[table];
	strings = contents(file, section);
	if (!strings || offset >= section->sh_size ||
	    !memchr(strings + offset, '\0', section->sh_size - offset))
		return "";
	return strings + offset;
}

static bool open_file(struct file *file, const void *elf, size_t bytes)
{
	const Elf64_Ehdr *header = elf;

	if (bytes < sizeof(*header) || memcmp(elf, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != CUBIN_MACHINE ||
	    header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 ||
	    header->e_shoff > bytes ||
	    header->e_shnum > (bytes - header->e_shoff) / sizeof(Elf64_Shdr))
		return false;
	file->data = elf;
	file->bytes = bytes;
	file->sections = (const void *)(file->data + header->e_shoff);
	file->nr_sections = header->e_shnum;
	file->names = header->e_shstrndx;
	return true;
}

static bool is_variable_section(const char *name)
{
	return strcmp(name, ".nv.global") == 0 || strcmp(name, ".nv.global.init") == 0 ||
	       strcmp(name, ".nv.constant3") == 0;
}

static bool read_symbol(struct sim_image *image, const struct file *file, const Elf64_Sym *symbol,
			unsigned int strings)
{
	const char *name = string_at(file, strings, symbol->st_name);
	struct sim_entry *entry;

	if (!*name || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= file->nr_sections)
		return true;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_other & CUBIN_ENTRY) {
		entry = sim_image_entry(image, name, strlen(name));
		if (entry)
			entry->known = true;
		return entry;
	}
	if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size &&
	    is_variable_section(
		    string_at(file, file->names, file->sections[symbol->st_shndx].sh_name)))
		return sim_image_variable(image, name, strlen(name), symbol->st_size);
	return true;
}

static bool read_symbols(struct sim_image *image, const struct file *file,
			 const Elf64_Shdr *section)
{
	const char *data = contents(file, section);
	Elf64_Sym symbol;

	if (!data)
		return true;
	for (size_t i = 0; i < section->sh_size / sizeof(symbol); i++) {
		memcpy(&symbol, data + i * sizeof(symbol), sizeof(symbol));
		if (!read_symbol(image, file, &symbol, section->sh_link))
			return false;
	}
	return true;
}

static uint32_t read_u16(const char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t read_u32(const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/*
 * Records of { format, attribute, 16 bits }; format 4 has that many bytes behind it. A parameter:
 *	0x17: u32 index, u16 ordinal, u16 offset, u32 with the size in its upper 14 bits
 *	0x45: u32 index, u16 ordinal, u16 offset, u16 size: when parameters exceed 4 KiB
 */
static bool read_info(struct sim_entry *entry, const char *data, size_t bytes)
{
	while (bytes >= 4) {
		unsigned char format = (unsigned char)data[0], attribute = (unsigned char)data[1];
		size_t length = format == FORMAT_SIZED ? read_u16(data + 2) : 0;
		const char *value = data + 4;

		if (length > bytes - 4)
			break;
		if (format == FORMAT_SIZED && length >= 12 && attribute == PARAM_INFO &&
		    !sim_image_param(entry, read_u16(value + 4), read_u16(value + 6),
				     read_u32(value + 8) >> 18))
			return false;
		if (format == FORMAT_SIZED && length >= 10 && attribute == PARAM_INFO_V2 &&
		    !sim_image_param(entry, read_u16(value + 4), read_u16(value + 6),
				     read_u16(value + 8)))
			return false;
		data += 4 + length;
		bytes -= 4 + length;
	}
	return true;
}

bool sim_cubin_parse(struct sim_image *image, const void *elf, size_t bytes)
{
	static const char prefix[] = ".nv.info.";
	struct file file;

	if (bytes > MAX_CUBIN || !open_file(&file, elf, bytes))
		return false;
	for (unsigned int i = 0; i < file.nr_sections; i++)
		if (file.sections[i].sh_type == SHT_SYMTAB &&
		    !read_symbols(image, &file, &file.sections[i]))
			return false;
	for (unsigned int i = 0; i < file.nr_sections; i++) {
		const char *name = string_at(&file, file.names, file.sections[i].sh_name);
		const char *data = contents(&file, &file.sections[i]);
		struct sim_entry *entry = image->entries;

		if (!data || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		while (entry && strcmp(entry->name, name + sizeof(prefix) - 1) != 0)
			entry = entry->next;
		if (entry && !read_info(entry, data, file.sections[i].sh_size))
			return false;
	}
	return true;
}

/* A bare cubin comes without its length: the section headers are the last or first of it. */
size_t sim_cubin_bytes(const void *elf, size_t limit)
{
	const Elf64_Ehdr *header = elf;
	const Elf64_Shdr *sections;
	size_t bytes;

	/* From a file: its size. From memory: as much as the sections say. */
	if (limit != SIZE_MAX)
		return limit;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != CUBIN_MACHINE ||
	    header->e_shoff > MAX_CUBIN || header->e_shoff % 8 ||
	    header->e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	bytes = header->e_shoff + (size_t)header->e_shnum * sizeof(Elf64_Shdr);
	sections = (const void *)((const char *)elf + header->e_shoff);
	for (unsigned int i = 0; i < header->e_shnum; i++) {
		size_t end = sections[i].sh_offset + sections[i].sh_size;

		if (sections[i].sh_type != SHT_NOBITS && end > bytes && end < MAX_CUBIN)
			bytes = end;
	}
	return bytes;
}
