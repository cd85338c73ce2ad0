/* Hands virtual memory management to the ledger. Runs in the application's threads. */
#include "preload/record_vmm.h"

#include <stddef.h>

static bool created(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	(void)data;
	return gmt_ledger_handle_created(ledger, event);
}

void gmt_record_created(struct gmt_call call, uint64_t handle, uint64_t bytes, int32_t device)
{
	struct gmt_event event = {
		.addr = handle,
		.bytes = bytes,
		.kind = GMT_KIND_VMM,
		.device = device,
	};

	gmt_record_event(call, &event, true, created, NULL);
}

static bool retained(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	(void)data;
	return gmt_ledger_handle_retained(ledger, event);
}

void gmt_record_retained(struct gmt_call call, uint64_t handle)
{
	struct gmt_event event = {
		.addr = handle,
		.kind = GMT_KIND_IMPORTED,
		.device = GMT_NO_DEVICE,
	};

	gmt_record_event(call, &event, true, retained, NULL);
}

struct mapped {
	uint64_t offset, handle;
};

static bool mapped(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	const struct mapped *to = data;

	return gmt_ledger_map(ledger, event->addr, event->bytes, to->offset, to->handle,
			      event->time_ns);
}

void gmt_record_mapped(struct gmt_call call, uint64_t addr, uint64_t bytes, uint64_t offset,
		       uint64_t handle)
{
	struct gmt_event event = { .addr = addr, .bytes = bytes };
	struct mapped to = { offset, handle };

	gmt_record_event(call, &event, false, mapped, &to);
}

static bool reserved(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	(void)data;
	return gmt_ledger_reserve(ledger, event->addr, event->bytes);
}

void gmt_record_reserved(struct gmt_call call, uint64_t addr, uint64_t bytes)
{
	struct gmt_event event = { .addr = addr, .bytes = bytes };

	gmt_record_event(call, &event, false, reserved, NULL);
}

static bool release(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	gmt_ledger_release(ledger, event->addr, event->time_ns, data);
	return true;
}

void gmt_record_release(struct gmt_call call, uint64_t handle, struct gmt_vmm_claim *claim)
{
	struct gmt_event event = { .addr = handle };

	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
	gmt_record_event(call, &event, false, release, claim);
}

static bool unmap(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	gmt_ledger_unmap(ledger, event->addr, event->bytes, event->time_ns, data);
	return true;
}

void gmt_record_unmap(struct gmt_call call, uint64_t addr, uint64_t bytes,
		      struct gmt_vmm_claim *claim)
{
	struct gmt_event event = { .addr = addr, .bytes = bytes };

	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
	gmt_record_event(call, &event, false, unmap, claim);
}

static bool unreserve(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	gmt_ledger_unreserve(ledger, event->addr, event->bytes, data);
	return true;
}

void gmt_record_unreserve(struct gmt_call call, uint64_t addr, uint64_t bytes,
			  struct gmt_vmm_claim *claim)
{
	struct gmt_event event = { .addr = addr, .bytes = bytes };

	*claim = (struct gmt_vmm_claim){ NULL, NULL, NULL };
	gmt_record_event(call, &event, false, unreserve, claim);
}

struct ended {
	struct gmt_vmm_claim *claim;
	enum gmt_freed outcome;
};

static bool ended(struct gmt_ledger *ledger, const struct gmt_event *event, void *data)
{
	const struct ended *end = data;

	(void)event;
	if (end->outcome == GMT_FREED) {
		gmt_ledger_vmm_done(ledger, end->claim);
		return true;
	}
	gmt_ledger_vmm_refused(ledger, end->claim,
			       end->outcome == GMT_FREED_TEARDOWN ? GMT_BLOCK_TEARDOWN
								  : GMT_BLOCK_LIVE);
	return true;
}

void gmt_record_vmm_ended(struct gmt_call call, struct gmt_vmm_claim *claim, enum gmt_freed outcome)
{
	struct gmt_event event = { 0 };
	struct ended end = { claim, outcome };

	if (claim->handle || claim->mappings || claim->reservation)
		gmt_record_event(call, &event, false, ended, &end);
}
