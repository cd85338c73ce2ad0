/* How the ledger is told of virtual memory management; part of ledger.h, for who feeds it. */
#ifndef GMT_PRELOAD_LEDGER_VMM_H
#define GMT_PRELOAD_LEDGER_VMM_H

#include "preload/ledger.h"

/*
 * Virtual memory management. A handle is a block of kind VMM (or IMPORTED: another's memory) whose
 * address is the handle's value. It is live while it has references or is mapped; its addresses are
 * those of its mappings. A handle, mapping or reservation that is not known is left alone.
 */
bool gmt_ledger_handle_created(struct gmt_ledger *ledger, const struct gmt_event *event);
/* One more reference; event tells of a handle that was not known: an imported one. */
bool gmt_ledger_handle_retained(struct gmt_ledger *ledger, const struct gmt_event *event);
bool gmt_ledger_map(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint64_t offset,
		    uint64_t handle, uint64_t time_ns);
bool gmt_ledger_reserve(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes);

/*
 * What the driver is about to take away: one reference of a handle; the mappings inside a range; a
 * reservation. Every claim is ended once, as refused (all is as it was) or not.
 */
struct gmt_vmm_claim {
	struct gmt_handle *handle;
	struct gmt_mapping *mappings;
	struct gmt_reservation *reservation;
};
void gmt_ledger_release(struct gmt_ledger *ledger, uint64_t handle, uint64_t time_ns,
			struct gmt_vmm_claim *claim);
void gmt_ledger_unmap(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint64_t time_ns,
		      struct gmt_vmm_claim *claim);
void gmt_ledger_unreserve(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes,
			  struct gmt_vmm_claim *claim);
void gmt_ledger_vmm_done(struct gmt_ledger *ledger, struct gmt_vmm_claim *claim);
/* state: that of the handle then, see gmt_ledger_unfree. */
void gmt_ledger_vmm_refused(struct gmt_ledger *ledger, struct gmt_vmm_claim *claim,
			    enum gmt_block_state state);

#endif
