/* The ledger's kernels and which blocks they were passed. Pure, like ledger.c. */
#include "preload/ledger_internal.h"

#include <string.h>

#include "preload/arena.h"

/* A block passed to more kernels than this keeps the first ones; the rest is counted as dropped. */
#define USES_MAX 64

static struct gmt_kernel *kernel_by_id(const struct gmt_ledger *ledger, uint32_t id)
{
	return id > 0 && id <= ledger->nr_kernels ? ledger->kernel_by_id[id - 1] : NULL;
}

uint32_t gmt_ledger_kernel(struct gmt_ledger *ledger, const char *name, int32_t device)
{
	struct gmt_kernel **link = &ledger->kernels;

	for (; *link; link = &(*link)->next)
		if ((*link)->device == device && strcmp((*link)->name, name) == 0)
			return (*link)->id;
	*link = gmt_arena_zalloc(ledger->arena, sizeof(**link));
	if (!*link)
		return 0;
	(*link)->name = gmt_ledger_string(ledger, name);
	(*link)->device = device;
	(*link)->id = ledger->nr_kernels + 1;
	if ((*link)->name && gmt_ledger_push(ledger, (void ***)&ledger->kernel_by_id,
					     &ledger->nr_kernels, &ledger->kernels_room, *link))
		return (*link)->id;
	*link = NULL;
	return 0;
}

static void note_stream(struct gmt_kernel *kernel, uint64_t stream)
{
	for (uint32_t i = 0; i < kernel->nr_streams && i < GMT_KERNEL_STREAMS; i++)
		if (kernel->streams[i] == stream)
			return;
	if (kernel->nr_streams < GMT_KERNEL_STREAMS)
		kernel->streams[kernel->nr_streams] = stream;
	if (kernel->nr_streams <= GMT_KERNEL_STREAMS)
		kernel->nr_streams++;
}

static struct gmt_kernel_site *kernel_site(struct gmt_ledger *ledger, struct gmt_kernel *kernel,
					   uint32_t site)
{
	struct gmt_kernel_site **link = &kernel->sites;

	while (*link && (*link)->site != site)
		link = &(*link)->next;
	if (!*link) {
		*link = gmt_arena_zalloc(ledger->arena, sizeof(**link));
		if (*link)
			(*link)->site = site;
	}
	return *link;
}

/* A block is counted once per kernel. False: no memory, or too many kernels. */
static bool use_block(struct gmt_ledger *ledger, struct gmt_kernel *kernel, struct gmt_block *block)
{
	struct gmt_kernel_site *share;
	struct gmt_use *use;
	unsigned int nr_uses = 0;

	for (use = block->uses; use; use = use->next, nr_uses++)
		if (use->kernel == kernel->id)
			return true;
	if (nr_uses >= USES_MAX)
		return false;
	share = kernel_site(ledger, kernel, block->site->id);
	use = gmt_arena_zalloc(ledger->arena, sizeof(*use));
	if (!share || !use)
		return false;
	use->kernel = kernel->id;
	use->next = block->uses;
	block->uses = use;
	share->bytes += block->bytes;
	share->blocks++;
	kernel->bytes_referenced += block->bytes;
	return true;
}

bool gmt_ledger_launch(struct gmt_ledger *ledger, uint32_t id, uint64_t stream,
		       const uint64_t *addrs, uint32_t nr_addrs)
{
	struct gmt_kernel *kernel = kernel_by_id(ledger, id);
	bool complete = true;

	if (!kernel)
		return false;
	/* A record of CUPTI may have come first, with its own number for the stream. */
	if (kernel->launches == 0)
		kernel->nr_streams = 0;
	kernel->launches++;
	note_stream(kernel, stream);
	for (uint32_t i = 0; i < nr_addrs; i++) {
		struct gmt_block *block = gmt_ledger_find(ledger, addrs[i]);

		if (block && !use_block(ledger, kernel, block))
			complete = false;
	}
	return complete;
}

void gmt_ledger_kernel_time(struct gmt_ledger *ledger, uint32_t id, uint64_t stream,
			    uint64_t gpu_ns, uint64_t records)
{
	struct gmt_kernel *kernel = kernel_by_id(ledger, id);

	if (!kernel)
		return;
	kernel->records += records;
	kernel->gpu_time_ns += gpu_ns;
	if (kernel->launches == 0)
		note_stream(kernel, stream);
}

void gmt_ledger_freed(struct gmt_ledger *ledger, struct gmt_claim *claim)
{
	struct gmt_use *use = claim->claimed ? claim->uses : NULL;

	while (use) {
		struct gmt_use *next = use->next;

		gmt_arena_free(ledger->arena, use, sizeof(*use));
		use = next;
	}
	claim->uses = NULL;
}

bool gmt_ledger_put_kernel(struct gmt_ledger *ledger, const struct gmt_kernel *row)
{
	uint32_t id = gmt_ledger_kernel(ledger, row->name, row->device);
	struct gmt_kernel *kernel = kernel_by_id(ledger, id);

	if (!kernel)
		return false;
	kernel->launches = row->launches;
	kernel->records = row->records;
	kernel->gpu_time_ns = row->gpu_time_ns;
	kernel->bytes_referenced = row->bytes_referenced;
	memcpy(kernel->streams, row->streams, sizeof(kernel->streams));
	kernel->nr_streams = row->nr_streams;
	for (const struct gmt_kernel_site *site = row->sites; site; site = site->next) {
		struct gmt_kernel_site *share = kernel_site(ledger, kernel, site->site);

		if (!share)
			return false;
		share->bytes = site->bytes;
		share->blocks = site->blocks;
	}
	return true;
}
