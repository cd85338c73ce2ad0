/* The ledger's facts: modules, stacks, devices, samples, notes. Pure, like ledger.c. */
#include "preload/ledger_internal.h"

#include <string.h>

#include "preload/arena.h"

const char *gmt_ledger_string(struct gmt_ledger *ledger, const char *text)
{
	size_t bytes = strnlen(text, GMT_NAME_MAX);
	char *copy = gmt_arena_alloc(ledger->arena, bytes + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	return copy;
}

bool gmt_ledger_push_name(struct gmt_ledger *ledger, const char ***names, uint32_t *count,
			  uint32_t *room, const char *text)
{
	const char *copy = gmt_ledger_string(ledger, text);

	/* One more, taken back: the list ends with NULL. */
	if (!copy || !gmt_ledger_push(ledger, (void ***)names, count, room, (void *)copy) ||
	    !gmt_ledger_push(ledger, (void ***)names, count, room, NULL))
		return false;
	(*count)--;
	return true;
}

bool gmt_ledger_add_module(struct gmt_ledger *ledger, const struct gmt_module *module)
{
	struct gmt_module *copy = gmt_arena_alloc(ledger->arena, sizeof(*copy));

	if (!copy)
		return false;
	*copy = *module;
	copy->path = gmt_ledger_string(ledger, module->path ? module->path : "");
	copy->id = ledger->nr_modules + 1;
	return copy->path && gmt_ledger_push(ledger, (void ***)&ledger->modules,
					     &ledger->nr_modules, &ledger->modules_room, copy);
}

bool gmt_ledger_add_stack(struct gmt_ledger *ledger, uint32_t id, const struct gmt_frame *frames,
			  uint32_t nr_frames)
{
	struct gmt_stack *stack = gmt_arena_zalloc(ledger->arena, sizeof(*stack));
	struct gmt_frame *copy = gmt_arena_alloc(ledger->arena, nr_frames * sizeof(*copy));

	/* Ids arrive nearly in order: two threads that intern at once may swap. */
	if (!stack || !copy || id == 0 || id > ledger->nr_stacks + (1u << 20))
		return false;
	while (ledger->nr_stacks < id)
		if (!gmt_ledger_push(ledger, (void ***)&ledger->stacks, &ledger->nr_stacks,
				     &ledger->stacks_room, NULL))
			return false;
	memcpy(copy, frames, nr_frames * sizeof(*copy));
	stack->id = id;
	stack->nr_frames = nr_frames;
	stack->frames = copy;
	ledger->stacks[id - 1] = stack;
	return true;
}

bool gmt_ledger_set_device(struct gmt_ledger *ledger, const struct gmt_device_facts *facts,
			   const char *name)
{
	struct gmt_device *device;

	if (facts->ordinal < 0 || facts->ordinal >= GMT_MAX_DEVICES)
		return false;
	device = &ledger->devices[facts->ordinal];
	device->facts = *facts;
	device->seen = true;
	if (name)
		device->name = gmt_ledger_string(ledger, name);
	return !name || device->name;
}

void gmt_ledger_sample_device(struct gmt_ledger *ledger, const struct gmt_device_sample *sample)
{
	if (sample->ordinal < 0 || sample->ordinal >= GMT_MAX_DEVICES)
		return;
	ledger->devices[sample->ordinal].sample = *sample;
	ledger->devices[sample->ordinal].seen = true;
}

bool gmt_ledger_sample_pool(struct gmt_ledger *ledger, const struct gmt_pool_sample *sample)
{
	struct gmt_pool *pool = gmt_ledger_pool(ledger, sample->pool, sample->device);

	if (!pool)
		return false;
	pool->sample = *sample;
	return true;
}

bool gmt_ledger_note(struct gmt_ledger *ledger, const char *text)
{
	struct gmt_note **link = &ledger->notes;

	for (; *link; link = &(*link)->next)
		if (strcmp((*link)->text, text) == 0)
			return true;
	*link = gmt_arena_zalloc(ledger->arena, sizeof(**link));
	if (!*link)
		return false;
	(*link)->text = gmt_ledger_string(ledger, text);
	if ((*link)->text)
		return true;
	*link = NULL;
	return false;
}

bool gmt_ledger_put_pool(struct gmt_ledger *ledger, const struct gmt_pool_sample *sample,
			 uint64_t handle, int32_t device, uint64_t used_bytes, uint64_t used_peak)
{
	struct gmt_pool *pool = gmt_ledger_pool(ledger, handle, device);

	if (!pool)
		return false;
	pool->sample = *sample;
	pool->used_bytes = used_bytes;
	pool->used_peak = used_peak;
	return true;
}
