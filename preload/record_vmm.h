/*
 * Virtual memory management: what the hooks tell the ledger, see ledger.h. Any thread; like
 * record.h. A claim comes before the driver's call, and is ended after it with what became of it.
 */
#ifndef GMT_PRELOAD_RECORD_VMM_H
#define GMT_PRELOAD_RECORD_VMM_H

#include "preload/ledger_vmm.h"
#include "preload/record.h"

void gmt_record_created(struct gmt_call call, uint64_t handle, uint64_t bytes, int32_t device);
/* By retain or import; of a handle that is not known, an imported one. */
void gmt_record_retained(struct gmt_call call, uint64_t handle);
void gmt_record_mapped(struct gmt_call call, uint64_t addr, uint64_t bytes, uint64_t offset,
		       uint64_t handle);
void gmt_record_reserved(struct gmt_call call, uint64_t addr, uint64_t bytes);

void gmt_record_release(struct gmt_call call, uint64_t handle, struct gmt_vmm_claim *claim);
void gmt_record_unmap(struct gmt_call call, uint64_t addr, uint64_t bytes,
		      struct gmt_vmm_claim *claim);
void gmt_record_unreserve(struct gmt_call call, uint64_t addr, uint64_t bytes,
			  struct gmt_vmm_claim *claim);
void gmt_record_vmm_ended(struct gmt_call call, struct gmt_vmm_claim *claim,
			  enum gmt_freed outcome);

#endif
