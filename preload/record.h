/*
 * Builds events and hands them to the ledger, under the one mutex. Any thread. Keeps errno.
 * The driver's result is the application's: nothing here can change it.
 */
#ifndef GMT_PRELOAD_RECORD_H
#define GMT_PRELOAD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/apis.h"
#include "preload/context.h"
#include "preload/event.h"
#include "preload/ledger.h"

enum gmt_freed {
	GMT_FREED,	    /* the driver freed it */
	GMT_FREED_REFUSED,  /* it did not: the block is live again */
	GMT_FREED_TEARDOWN, /* it was shutting down: the block goes with the context, not a leak */
};

/* After the driver's success. device may be GMT_NO_DEVICE. */
void gmt_record_alloc(struct gmt_call call, enum gmt_kind kind, uint64_t addr, uint64_t bytes,
		      uint64_t pool, struct gmt_place place);

void gmt_record_failed(void);

/*
 * For families with an account of their own: hands the event, with its time and (told so) its
 * stack, to the ledger under the lock. step returns false for want of memory, which is counted.
 */
void gmt_record_event(struct gmt_call call, struct gmt_event *event, bool with_stack,
		      bool (*step)(struct gmt_ledger *ledger, const struct gmt_event *event,
				   void *data),
		      void *data);

/* A context is gone, and what it owned with it. */
void gmt_record_reclaim(uint32_t context);

/*
 * Before the driver frees: another thread may be handed the same address before the call returns.
 * Every claim is followed by one gmt_record_freed.
 */
void gmt_record_claim(uint64_t addr, struct gmt_claim *claim);
void gmt_record_freed(struct gmt_claim *claim, enum gmt_freed outcome);

/*
 * The same for a free that may be a mistake. frees: a bit per kind that the call is for. A free
 * that the driver refuses is an error with the stack of this call; one of an address that we do not
 * know, which the driver accepts, is only counted.
 */
void gmt_record_free_ended(struct gmt_call call, uint64_t addr, uint32_t frees,
			   struct gmt_claim *claim, enum gmt_freed outcome);

/* A kernel's id in the ledger; 0: could not be kept. */
uint32_t gmt_record_kernel(const char *name, int32_t device);
void gmt_record_launch(uint32_t kernel, uint64_t stream, const uint64_t *words, uint32_t nr_words);
void gmt_record_kernel_time(uint32_t kernel, uint64_t stream, uint64_t gpu_ns, uint64_t records);

/* Facts. */
void gmt_record_stack(uint32_t id, const struct gmt_frame *frames, uint32_t nr_frames);
uint32_t gmt_record_module(const struct gmt_module *module);
void gmt_record_device(const struct gmt_device_facts *facts, const char *name);
void gmt_record_device_sample(const struct gmt_device_sample *sample);
void gmt_record_pool_sample(const struct gmt_pool_sample *sample);
void gmt_record_note(const char *text);
void gmt_record_cupti(enum gmt_cupti state);
/* Copies up to room handles of pools seen on the device; returns how many there are. */
uint32_t gmt_record_pools(int32_t device, uint64_t *handles, uint32_t room);

/* Whether anything of CUDA was used, so that there is something to report. */
void gmt_record_used_cuda(void);
bool gmt_record_has_used_cuda(void);

/*
 * Stops recording (later events are only counted) and returns the ledger for the report; NULL: it
 * could not be had in time (a thread that was killed holds the lock) or there is no memory.
 */
struct gmt_ledger *gmt_record_finish(void);

/* In a forked child: forgets the parent's blocks and starts empty. */
void gmt_record_forked(void);

#endif
