/* Owns the look-up in DWARF: the unit, the chain of functions, the line. */
#include "report/symbolize_dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

/* Units beyond this are not indexed: a file that has more was made to have more. */
#define MAX_RANGES ((size_t)1 << 22)

struct range {
	Dwarf_Addr start, end;
	Dwarf_Off unit;
};

struct gmt_dwarf {
	Dwfl_Module *module;
	Dwarf *dwarf; /* NULL: the module has none */
	Dwarf_Addr bias;
	struct range *ranges; /* sorted; made when .debug_aranges did not know an address */
	size_t nr_ranges, room;
	bool indexed;
};

struct gmt_dwarf *gmt_dwarf_new(Dwfl_Module *module)
{
	struct gmt_dwarf *dwarf = calloc(1, sizeof(*dwarf));

	if (!dwarf)
		return NULL;
	dwarf->module = module;
	dwarf->dwarf = dwfl_module_getdwarf(module, &dwarf->bias);
	return dwarf;
}

void gmt_dwarf_free(struct gmt_dwarf *dwarf)
{
	if (dwarf)
		free(dwarf->ranges);
	free(dwarf);
}

static bool add_range(struct gmt_dwarf *dwarf, Dwarf_Addr start, Dwarf_Addr end, Dwarf_Off unit)
{
	if (dwarf->nr_ranges == dwarf->room) {
		size_t wider = dwarf->room ? dwarf->room * 2 : 1024;
		struct range *moved;

		if (wider > MAX_RANGES)
			return false;
		moved = realloc(dwarf->ranges, wider * sizeof(*moved));
		if (!moved)
			return false;
		dwarf->ranges = moved;
		dwarf->room = wider;
	}
	dwarf->ranges[dwarf->nr_ranges++] = (struct range){ start, end, unit };
	return true;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Clang writes no .debug_aranges: the units' own ranges serve. */
static void index_units(struct gmt_dwarf *dwarf)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	dwarf->indexed = true;
	while (dwarf_nextcu(dwarf->dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf->dwarf, offset + header, &unit))
			while ((at = dwarf_ranges(&unit, at, &base, &start, &end)) > 0)
				if (!add_range(dwarf, start, end, dwarf_dieoffset(&unit)))
					break;
		if (next <= offset)
			break;
		offset = next;
	}
	if (dwarf->nr_ranges)
		qsort(dwarf->ranges, dwarf->nr_ranges, sizeof(*dwarf->ranges), compare_ranges);
}

static bool find_unit(struct gmt_dwarf *dwarf, Dwarf_Addr pc, Dwarf_Die *unit)
{
	size_t low = 0, high;

	if (dwarf_addrdie(dwarf->dwarf, pc, unit))
		return true;
	if (!dwarf->indexed)
		index_units(dwarf);
	high = dwarf->nr_ranges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf->ranges[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && pc < dwarf->ranges[low - 1].end &&
	       dwarf_offdie(dwarf->dwarf, dwarf->ranges[low - 1].unit, unit);
}

/* The mangled name where there is one: it is the same in every file that has the function. */
static const char *name_of(Dwarf_Die *function)
{
	static const unsigned int linkage[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < 2; i++)
		if (dwarf_attr_integrate(function, linkage[i], &attribute)) {
			const char *name = dwarf_formstring(&attribute);

			if (name && *name)
				return name;
		}
	return dwarf_diename(function);
}

static void set_line(Dwarf_Die *unit, Dwarf_Addr pc, struct gmt_name *name)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int number = 0, column = 0;

	if (!line)
		return;
	name->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		name->line = (uint32_t)number;
	if (dwarf_linecol(line, &column) == 0 && column > 0)
		name->column = (uint32_t)column;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int what)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, what, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* Where an inlined function was called: the line of the function that it was inlined into. */
static void set_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct gmt_name *name)
{
	uint32_t file = number_of(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t nr_files;

	if (dwarf_getsrcfiles(unit, &files, &nr_files) == 0 && file < nr_files)
		name->file = dwarf_filesrc(files, file, NULL, NULL);
	name->line = number_of(inlined, DW_AT_call_line);
	name->column = number_of(inlined, DW_AT_call_column);
}

/*
 * dwarf_getscopes goes on from an inlined function to where it was defined; the second call goes
 * from the same place outwards through the code instead.
 */
static int concrete_scopes(struct gmt_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Addr pc,
			   Dwarf_Die **scopes)
{
	Dwarf_Die innermost;
	int count = dwarf_getscopes(unit, pc, scopes);

	if (count <= 0)
		return 0;
	if (!dwarf_offdie(dwarf->dwarf, dwarf_dieoffset(&(*scopes)[0]), &innermost)) {
		free(*scopes);
		return 0;
	}
	free(*scopes);
	count = dwarf_getscopes_die(&innermost, scopes);
	return count > 0 ? count : 0;
}

void gmt_dwarf_names(struct gmt_dwarf *dwarf, GElf_Addr address, struct gmt_names *names)
{
	Dwarf_Addr pc = address - dwarf->bias;
	struct gmt_name next = { .function = NULL };
	Dwarf_Die unit, *scopes;
	int count;

	names->count = 0;
	if (!dwarf->dwarf || !find_unit(dwarf, pc, &unit))
		return;
	set_line(&unit, pc, &next);
	count = concrete_scopes(dwarf, &unit, pc, &scopes);
	for (int i = 0; i < count && names->count < GMT_NAMES_MAX; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		next.function = name_of(&scopes[i]);
		next.inlined = tag == DW_TAG_inlined_subroutine;
		names->names[names->count++] = next;
		if (tag == DW_TAG_subprogram)
			break;
		next = (struct gmt_name){ .function = NULL };
		set_call(&unit, &scopes[i], &next);
	}
	if (count > 0)
		free(scopes);
	/* Assembly has lines but no functions. */
	if (names->count == 0 && next.file)
		names->names[names->count++] = next;
	if (names->count)
		names->names[names->count - 1].inlined = false;
}
