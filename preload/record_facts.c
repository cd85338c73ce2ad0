/* Facts and kernels on their way into the ledger, under its mutex (record.c). Any thread. */
#include "preload/record_internal.h"

#include <stddef.h>

#include "preload/counters.h"
#include "preload/ledger.h"

uint32_t gmt_record_kernel(const char *name, int32_t device)
{
	struct gmt_ledger *ledger = gmt_record_lock();
	uint32_t id;

	if (!ledger)
		return 0;
	id = gmt_ledger_kernel(ledger, name, device);
	gmt_record_unlock();
	return id;
}

void gmt_record_kernel_time(uint32_t kernel, uint64_t stream, uint64_t gpu_ns, uint64_t records)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	gmt_ledger_kernel_time(ledger, kernel, stream, gpu_ns, records);
	gmt_record_unlock();
}

void gmt_record_stack(uint32_t id, const struct gmt_frame *frames, uint32_t nr_frames)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	if (!gmt_ledger_add_stack(ledger, id, frames, nr_frames))
		gmt_count(GMT_COUNT_lost_stacks);
	gmt_record_unlock();
}

uint32_t gmt_record_module(const struct gmt_module *module)
{
	struct gmt_ledger *ledger = gmt_record_lock();
	uint32_t id = 0;

	if (!ledger)
		return 0;
	if (gmt_ledger_add_module(ledger, module))
		id = ledger->nr_modules;
	gmt_record_unlock();
	return id;
}

void gmt_record_device(const struct gmt_device_facts *facts, const char *name)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	gmt_ledger_set_device(ledger, facts, name);
	gmt_record_unlock();
}

void gmt_record_device_sample(const struct gmt_device_sample *sample)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	gmt_ledger_sample_device(ledger, sample);
	gmt_record_unlock();
}

void gmt_record_pool_sample(const struct gmt_pool_sample *sample)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	gmt_ledger_sample_pool(ledger, sample);
	gmt_record_unlock();
}

void gmt_record_note(const char *text)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	gmt_ledger_note(ledger, text);
	gmt_record_unlock();
}

void gmt_record_cupti(enum gmt_cupti state)
{
	struct gmt_ledger *ledger = gmt_record_lock();

	if (!ledger)
		return;
	ledger->cupti = state;
	gmt_record_unlock();
}

uint32_t gmt_record_pools(int32_t device, uint64_t *handles, uint32_t room)
{
	struct gmt_ledger *ledger = gmt_record_lock();
	uint32_t count = 0;

	if (!ledger)
		return 0;
	for (struct gmt_pool *pool = ledger->pools; pool; pool = pool->next)
		if (pool->device == device && count++ < room)
			handles[count - 1] = pool->pool;
	gmt_record_unlock();
	return count;
}
