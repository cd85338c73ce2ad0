/*
 * Owns the report's stacks: which frames a reader sees, which make the site's hash, what the user
 * called. A frame that differs between a static and a shared runtime must not come through here.
 */
#include "report/stacks.h"

#include <string.h>

#include "report/heap.h"
#include "report/locations.h"

#define BASE_NAME_BYTES 128

struct gmt_stacks {
	struct gmt_heap *heap;
	const struct gmt_ledger *ledger;
	struct gmt_symbolizer *symbolizer;
	struct gmt_locations *locations;
	struct gmt_report_stack **made; /* by id - 1 */
	struct gmt_report_stack *empty;
	const struct gmt_location *path[GMT_MAX_FRAMES]; /* of the stack in progress */
};

/* FNV-1a, over strings with their terminators, so that no two lists of words run together. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * HASH_PRIME;
	return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text, size_t bytes)
{
	return hash_bytes(hash_bytes(hash, text, bytes), "", 1);
}

static uint64_t hash_frame(uint64_t hash, const struct gmt_location *location)
{
	const struct gmt_location_name *physical = &location->names[location->nr_names - 1];
	const struct gmt_module *module = location->module;
	const char *name = module ? gmt_names_basename(module->path) : "";
	unsigned char offset[8];

	hash = hash_text(hash, name, strlen(name));
	if (physical->raw)
		return hash_text(hash, physical->raw, gmt_names_stem(physical->raw));
	/* Generated code lies elsewhere in every run, and a vendor's release moves its insides. */
	if (!module || physical->code == GMT_CODE_VENDOR)
		return hash_text(hash, "", 0);
	for (int i = 0; i < 8; i++)
		offset[i] = (unsigned char)(location->offset >> (8 * i));
	hash = hash_text(hash, (const char *)module->build_id, module->build_id_bytes);
	return hash_bytes(hash, offset, sizeof(offset));
}

static struct gmt_report_stack *new_stack(struct gmt_heap *heap)
{
	struct gmt_report_stack *stack = gmt_heap_take(heap, 1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->written = gmt_heap_take(heap, 1, sizeof(*stack->written));
	return stack->written ? stack : NULL;
}

struct gmt_stacks *gmt_stacks_new(struct gmt_heap *heap, const struct gmt_ledger *ledger,
				  struct gmt_symbolizer *symbolizer)
{
	struct gmt_stacks *stacks = gmt_heap_take(heap, 1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->heap = heap;
	stacks->ledger = ledger;
	stacks->symbolizer = symbolizer;
	stacks->made = gmt_heap_take(heap, ledger->nr_stacks, sizeof(*stacks->made));
	stacks->empty = new_stack(heap);
	stacks->locations = gmt_locations_new(heap, ledger, symbolizer);
	if (gmt_heap_failed(heap) || !stacks->locations)
		return NULL;
	stacks->empty->site = HASH_START;
	return stacks;
}

const char *gmt_stacks_demangle(struct gmt_stacks *stacks, const char *raw)
{
	struct gmt_symbolizer *symbolizer = stacks->symbolizer;

	return symbolizer && symbolizer->demangle ? symbolizer->demangle(symbolizer, raw) : raw;
}

static enum gmt_code physical_code(const struct gmt_location *location)
{
	return location->names[location->nr_names - 1].code;
}

/* How many frames are left without those that start the process or the thread. */
static uint32_t without_start(const struct gmt_location *const *path, uint32_t count)
{
	/* In a stripped program _start has no name, but who calls libc from outside is _start. */
	if (count >= 2 && !path[count - 1]->names[path[count - 1]->nr_names - 1].raw &&
	    path[count - 1]->module && physical_code(path[count - 2]) == GMT_CODE_SYSTEM)
		count--;
	while (count > 0 && physical_code(path[count - 1]) == GMT_CODE_SYSTEM)
		count--;
	return count;
}

static void put_frame(struct gmt_report_stack *stack, const struct gmt_location *location,
		      const struct gmt_location_name *name)
{
	stack->frames[stack->nr_frames++] = (struct gmt_report_frame){
		.function = name->function,
		.file = name->file,
		.line = name->line,
		.column = name->column,
		.module = location->module,
		.offset = location->offset,
		.inlined = name->inlined,
		.vendor = name->code == GMT_CODE_VENDOR,
		.header = gmt_names_library_header(name->file),
	};
}

/* The vendor's frames in a row become one: the outermost, which is the function that was called. */
static void put_vendor(struct gmt_report_stack *stack, const struct gmt_location *location)
{
	uint32_t folded = 0;

	if (stack->nr_frames && stack->frames[stack->nr_frames - 1].vendor)
		folded = stack->frames[--stack->nr_frames].folded + 1;
	put_frame(stack, location, &location->names[location->nr_names - 1]);
	stack->frames[stack->nr_frames - 1].folded = folded;
}

static const char *public_name(struct gmt_stacks *stacks, const char *raw)
{
	char base[BASE_NAME_BYTES];

	if (!raw)
		return NULL;
	gmt_names_base(raw, base, sizeof(base));
	if (strncmp(base, "cuda", 4) != 0)
		return NULL;
	return gmt_heap_copy(stacks->heap, base, strlen(base));
}

/* What a walk from the inside out has to remember. */
struct walk {
	bool inside;			   /* nothing but driver and runtime was met yet */
	const struct gmt_location *vendor; /* of a row of them, not hashed yet */
	const char *runtime;		   /* raw name of the outermost runtime frame so far */
	uint32_t depth; /* frames since then, the first that is no longer inside included */
	uint64_t hash;
};

static void end_vendor(struct walk *walk)
{
	if (walk->vendor)
		walk->hash = hash_frame(walk->hash, walk->vendor);
	walk->vendor = NULL;
}

/* The last frame put is one of the user's modules. */
static void note_user(struct gmt_report_stack *stack)
{
	uint32_t last = stack->nr_frames - 1;

	if (stack->user == UINT32_MAX ||
	    (stack->frames[stack->user].header && !stack->frames[last].header))
		stack->user = last;
}

static void take_location(struct gmt_report_stack *stack, const struct gmt_location *location,
			  struct walk *walk)
{
	if (physical_code(location) == GMT_CODE_VENDOR) {
		walk->inside = false;
		walk->vendor = location;
		put_vendor(stack, location);
		return;
	}
	for (uint32_t i = 0; i < location->nr_names; i++) {
		const struct gmt_location_name *name = &location->names[i];

		switch (name->code) {
		case GMT_CODE_TRACER:
		case GMT_CODE_DRIVER:
			break;
		case GMT_CODE_RUNTIME:
			if (walk->inside)
				walk->runtime = name->raw;
			break;
		default:
			walk->inside = false;
			end_vendor(walk);
			put_frame(stack, location, name);
			if (name->code == GMT_CODE_USER)
				note_user(stack);
			if (i == location->nr_names - 1)
				walk->hash = hash_frame(walk->hash, location);
		}
	}
}

static struct gmt_report_stack *make(struct gmt_stacks *stacks, const struct gmt_stack *raw)
{
	struct gmt_report_stack *stack = new_stack(stacks->heap);
	uint32_t count = raw->nr_frames < GMT_MAX_FRAMES ? raw->nr_frames : GMT_MAX_FRAMES;
	uint32_t depth = stacks->ledger->settings.stack_depth;
	struct walk walk = { .inside = true, .hash = HASH_START };
	size_t nr_names = 0;

	if (!stack)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		stacks->path[i] = gmt_locations_get(stacks->locations, &raw->frames[i]);
		if (!stacks->path[i])
			return NULL;
	}
	count = without_start(stacks->path, count);
	for (uint32_t i = 0; i < count; i++)
		nr_names += stacks->path[i]->nr_names;
	stack->frames = gmt_heap_take(stacks->heap, nr_names, sizeof(*stack->frames));
	if (!stack->frames)
		return NULL;
	stack->user = UINT32_MAX;
	for (uint32_t i = 0; i < count && (!depth || walk.depth < depth); i++) {
		take_location(stack, stacks->path[i], &walk);
		walk.depth += !walk.inside;
	}
	end_vendor(&walk);
	if (stack->user == UINT32_MAX)
		stack->user = stack->nr_frames;
	stack->site = walk.hash;
	stack->runtime = public_name(stacks, walk.runtime);
	return stack;
}

const struct gmt_report_stack *gmt_stacks_get(struct gmt_stacks *stacks, uint32_t id)
{
	const struct gmt_ledger *ledger = stacks->ledger;

	if (id == 0 || id > ledger->nr_stacks || !ledger->stacks[id - 1])
		return stacks->empty;
	if (!stacks->made[id - 1])
		stacks->made[id - 1] = make(stacks, ledger->stacks[id - 1]);
	return stacks->made[id - 1];
}
