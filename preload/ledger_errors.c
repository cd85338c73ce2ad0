/* The ledger's errors: frees that were none, with both stacks. Pure, like ledger.c. */
#include "preload/ledger_internal.h"

#include "preload/arena.h"

/* Different errors kept; of a program with more, the first ones tell enough. */
#define ERRORS_MAX 1000

static struct gmt_recent *recent_slot(struct gmt_ledger *ledger, uint64_t addr)
{
	return &ledger->recent[gmt_hash_words(&addr, sizeof(addr)) % GMT_RECENT_FREES];
}

void gmt_ledger_note_freed(struct gmt_ledger *ledger, const struct gmt_block *block)
{
	struct gmt_recent *recent = recent_slot(ledger, block->addr);

	recent->addr = block->addr;
	recent->stack = block->site->stack;
}

/* What a free was that the driver refused, and where the block it was about came from. */
static enum gmt_error_kind kind_of(struct gmt_ledger *ledger, uint64_t addr,
				   const struct gmt_claim *claim, bool wrong_family,
				   uint32_t *alloc_stack)
{
	const struct gmt_block *block;
	const struct gmt_recent *recent;

	if (claim->claimed) {
		*alloc_stack = claim->event.stack;
		return wrong_family ? GMT_ERROR_WRONG_FAMILY : GMT_ERROR_FAILED_FREE;
	}
	block = gmt_ledger_find(ledger, addr);
	if (block) {
		*alloc_stack = block->site->stack;
		/* Mapped addresses are unmapped, never freed. */
		return block->role == GMT_ROLE_HANDLE ? GMT_ERROR_WRONG_FAMILY
						      : GMT_ERROR_INTERIOR_FREE;
	}
	/* Of two addresses that share a slot the later one is known. */
	recent = recent_slot(ledger, addr);
	if (recent->addr == addr) {
		*alloc_stack = recent->stack;
		return GMT_ERROR_DOUBLE_FREE;
	}
	*alloc_stack = 0;
	return GMT_ERROR_UNKNOWN_FREE;
}

struct gmt_error *gmt_ledger_error(struct gmt_ledger *ledger, const struct gmt_error *row)
{
	struct gmt_error **link = &ledger->errors;
	struct gmt_error *error;

	for (; *link; link = &(*link)->next)
		if ((*link)->kind == row->kind && (*link)->api == row->api &&
		    (*link)->stack == row->stack && (*link)->alloc_stack == row->alloc_stack)
			return *link;
	if (ledger->nr_errors == ERRORS_MAX)
		return NULL;
	error = gmt_arena_alloc(ledger->arena, sizeof(*error));
	if (!error)
		return NULL;
	*error = *row;
	error->count = 0;
	error->next = NULL;
	*link = error;
	ledger->nr_errors++;
	return error;
}

bool gmt_ledger_bad_free(struct gmt_ledger *ledger, const struct gmt_event *event,
			 const struct gmt_claim *claim, bool wrong_family)
{
	struct gmt_error row = {
		.address = event->addr,
		.time_ns = event->time_ns,
		.stack = event->stack,
		.api = event->api,
	};
	struct gmt_error *error;

	row.kind = (uint8_t)kind_of(ledger, event->addr, claim, wrong_family, &row.alloc_stack);
	error = gmt_ledger_error(ledger, &row);
	if (!error)
		return false;
	error->count++;
	return true;
}
