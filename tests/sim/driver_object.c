/*
 * The live handles of the simulated driver. A handle is looked up by its address before it is
 * used, so a destroyed or foreign handle is an error code and never a crash.
 */
#include <stdlib.h>

#include "driver.h"

#define BUCKETS 65536

static struct sim_object *buckets[BUCKETS];

static struct sim_object **bucket_of(const void *handle)
{
	uint64_t key = (uintptr_t)handle >> 4;

	return &buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
}

void *sim_object_new(size_t bytes, enum sim_type type, struct sim_context *context)
{
	struct sim_object *object = calloc(1, bytes);
	struct sim_object **bucket;

	if (!object)
		return NULL;
	bucket = bucket_of(object);
	object->type = type;
	object->context = context;
	object->next = *bucket;
	*bucket = object;
	return object;
}

void *sim_object_find(const void *handle, enum sim_type type)
{
	for (struct sim_object *object = *bucket_of(handle); object; object = object->next)
		if (object == handle)
			return object->type == type ? object : NULL;
	return NULL;
}

void sim_object_retire(void *object)
{
	struct sim_object **link = bucket_of(object);

	while (*link && *link != object)
		link = &(*link)->next;
	if (*link)
		*link = (*link)->next;
}

void sim_object_free(void *object)
{
	sim_object_retire(object);
	free(object);
}

void *sim_object_any(enum sim_type type, const struct sim_context *context)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct sim_object *object = buckets[i]; object; object = object->next)
			if (object->type == type && object->context == context)
				return object;
	return NULL;
}

void sim_object_each(enum sim_type type, void (*visit)(void *object, void *closure), void *closure)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct sim_object *object = buckets[i]; object; object = object->next)
			if (object->type == type)
				visit(object, closure);
}
