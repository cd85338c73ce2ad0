/*
 * Owns the table of named addresses, and the decision whose code an address is. A runtime that was
 * linked into a stripped program has no names: it is known by where it lies.
 */
#include "report/locations.h"

#include <string.h>

#include "report/heap.h"

/* The text of libcudart_static.a 13.0 is 490 KiB, and lies in one piece behind the program's own.
 */
#define RUNTIME_BYTES (UINT64_C(512) * 1024)

/* Frames of the runtime from a public function to the driver; three were seen. */
#define RUNTIME_DEPTH 8

#define FIRST_ROOM 1024

struct gmt_locations {
	struct gmt_heap *heap;
	const struct gmt_ledger *ledger;
	struct gmt_symbolizer *symbolizer;
	struct gmt_names names; /* of the look-up in progress */
	enum gmt_code *codes;	/* of the modules, by id - 1 */
	uint64_t *runtime; /* where a static runtime begins in them; UINT64_MAX: there is none */
	struct gmt_location **slots; /* open addressing, a power of two */
	uint32_t room, count;
};

static const struct gmt_module *module_of(const struct gmt_ledger *ledger, uint32_t id)
{
	return id > 0 && id <= ledger->nr_modules ? ledger->modules[id - 1] : NULL;
}

static bool in_runtime(const struct gmt_locations *locations, uint32_t module, uint64_t offset)
{
	uint64_t lo = module ? locations->runtime[module - 1] : UINT64_MAX;

	return lo != UINT64_MAX && offset >= lo && offset - lo < RUNTIME_BYTES;
}

/*
 * The innermost frame of a call that went through a runtime lies in the runtime, and so do those
 * between it and any other that does: the runtime begins at the lowest of them or before.
 */
static void note_runtime(struct gmt_locations *locations, const struct gmt_site *site)
{
	const struct gmt_ledger *ledger = locations->ledger;
	const struct gmt_stack *stack;
	uint32_t module, outermost = 0;
	uint64_t *lo;

	if (!(site->api & GMT_API_RUNTIME) || site->stack == 0 || site->stack > ledger->nr_stacks)
		return;
	stack = ledger->stacks[site->stack - 1];
	module = stack && stack->nr_frames ? stack->frames[0].module : 0;
	if (!module_of(ledger, module) || locations->runtime[module - 1] == UINT64_MAX)
		return;
	lo = &locations->runtime[module - 1];
	if (stack->frames[0].offset < *lo)
		*lo = stack->frames[0].offset;
	for (uint32_t i = 1; i < stack->nr_frames && i < RUNTIME_DEPTH; i++) {
		if (stack->frames[i].module != module)
			break;
		if (in_runtime(locations, module, stack->frames[i].offset))
			outermost = i;
	}
	for (uint32_t i = 1; i < outermost; i++)
		if (stack->frames[i].offset < *lo)
			*lo = stack->frames[i].offset;
}

static void know_modules(struct gmt_locations *locations)
{
	const struct gmt_ledger *ledger = locations->ledger;

	for (uint32_t i = 0; i < ledger->nr_modules; i++) {
		const struct gmt_module *module = ledger->modules[i];

		locations->codes[i] = gmt_names_module(module->path);
		locations->runtime[i] = module->runtime_lo ? module->runtime_lo : UINT64_MAX;
	}
	/* Twice: what one call shows of the runtime's place serves the others. */
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < ledger->nr_sites; i++)
			note_runtime(locations, ledger->sites[i]);
}

struct gmt_locations *gmt_locations_new(struct gmt_heap *heap, const struct gmt_ledger *ledger,
					struct gmt_symbolizer *symbolizer)
{
	struct gmt_locations *locations = gmt_heap_take(heap, 1, sizeof(*locations));

	if (!locations)
		return NULL;
	locations->heap = heap;
	locations->ledger = ledger;
	locations->symbolizer = symbolizer;
	locations->room = FIRST_ROOM;
	locations->codes = gmt_heap_take(heap, ledger->nr_modules, sizeof(enum gmt_code));
	locations->runtime = gmt_heap_take(heap, ledger->nr_modules, sizeof(uint64_t));
	locations->slots = gmt_heap_take(heap, locations->room, sizeof(void *));
	if (gmt_heap_failed(heap))
		return NULL;
	know_modules(locations);
	return locations;
}

static enum gmt_code code_of(const struct gmt_locations *locations, const struct gmt_module *module,
			     uint64_t offset, const char *raw)
{
	enum gmt_code code = module ? locations->codes[module->id - 1] : GMT_CODE_USER;

	if (code != GMT_CODE_USER)
		return code;
	if (!raw)
		return in_runtime(locations, module ? module->id : 0, offset) ? GMT_CODE_RUNTIME
									      : code;
	if (gmt_names_runtime(raw))
		return GMT_CODE_RUNTIME;
	if (gmt_names_runtime_like(raw) && module && in_runtime(locations, module->id, offset))
		return GMT_CODE_RUNTIME;
	return gmt_names_start(raw) ? GMT_CODE_SYSTEM : code;
}

static struct gmt_location *make(struct gmt_locations *locations, const struct gmt_frame *frame)
{
	struct gmt_location *location = gmt_heap_take(locations->heap, 1, sizeof(*location));
	struct gmt_names *names = &locations->names;

	if (!location)
		return NULL;
	location->module = module_of(locations->ledger, frame->module);
	location->offset = frame->offset;
	names->count = 0;
	if (location->module && locations->symbolizer &&
	    !locations->symbolizer->resolve(locations->symbolizer, location->module, frame->offset,
					    names))
		names->count = 0;
	if (names->count == 0) {
		names->count = 1;
		names->names[0] = (struct gmt_name){ .function = NULL };
	}
	location->nr_names = names->count;
	location->names = gmt_heap_take(locations->heap, names->count, sizeof(*location->names));
	if (!location->names)
		return NULL;
	for (uint32_t i = 0; i < names->count; i++) {
		const struct gmt_name *name = &names->names[i];

		location->names[i] = (struct gmt_location_name){
			.raw = name->function,
			.function = name->demangled ? name->demangled : name->function,
			.file = name->file,
			.line = name->line,
			.column = name->column,
			.inlined = name->inlined,
			.code = code_of(locations, location->module, frame->offset, name->function),
		};
	}
	return location;
}

static uint64_t hash_of(uint64_t module, uint64_t offset)
{
	uint64_t hash = (offset ^ (module << 48)) * UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ (hash >> 32);
}

static struct gmt_location **slot_of(struct gmt_location **slots, uint32_t room,
				     const struct gmt_module *module, uint64_t offset)
{
	uint32_t at = (uint32_t)hash_of(module ? module->id : 0, offset) & (room - 1);

	while (slots[at] && (slots[at]->module != module || slots[at]->offset != offset))
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static bool widen(struct gmt_locations *locations)
{
	uint32_t wider = locations->room * 2;
	struct gmt_location **slots = gmt_heap_take(locations->heap, wider, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < locations->room; i++) {
		struct gmt_location *location = locations->slots[i];

		if (location)
			*slot_of(slots, wider, location->module, location->offset) = location;
	}
	locations->slots = slots;
	locations->room = wider;
	return true;
}

const struct gmt_location *gmt_locations_get(struct gmt_locations *locations,
					     const struct gmt_frame *frame)
{
	const struct gmt_module *module = module_of(locations->ledger, frame->module);
	struct gmt_location **slot =
		slot_of(locations->slots, locations->room, module, frame->offset);

	if (*slot)
		return *slot;
	if (locations->count * 2 >= locations->room) {
		if (!widen(locations))
			return NULL;
		slot = slot_of(locations->slots, locations->room, module, frame->offset);
	}
	*slot = make(locations, frame);
	locations->count += *slot != NULL;
	return *slot;
}
