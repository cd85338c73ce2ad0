/*
 * What was allocated and freed, kept apart from everything else so that tests can compare it with
 * a report. GMTSIM_STATS=path appends at exit, for each device and kind that was used:
 *
 *	device=0 kind=device allocations=3 frees=2 reclaimed=0 live_blocks=1 live_bytes=2000
 *
 * Bytes are as requested. `reclaimed` were freed by the end of their context. Host memory counts
 * under the device that was current.
 */
#include <inttypes.h>
#include <stdio.h>

#include "driver.h"

struct totals {
	uint64_t allocations, frees, reclaimed, live_blocks, live_bytes;
};

static struct totals totals[SIM_MAX_DEVICE][SIM_NR_STATS];
static const char *const kind_names[SIM_NR_STATS] = { "device",	    "managed",	"pinned",
						      "registered", "array",	"pool",
						      "vmm",	    "imported", "graph" };

static struct totals *totals_of(const struct sim_device *device, enum sim_kind kind)
{
	return kind < SIM_NR_STATS ? &totals[device ? device->ordinal : 0][kind] : NULL;
}

void sim_stat_alloc(const struct sim_device *device, enum sim_kind kind, uint64_t bytes)
{
	struct totals *total = totals_of(device, kind);

	if (!total)
		return;
	total->allocations++;
	total->live_blocks++;
	total->live_bytes += bytes;
}

void sim_stat_free(const struct sim_device *device, enum sim_kind kind, uint64_t bytes)
{
	struct totals *total = totals_of(device, kind);

	if (!total)
		return;
	total->frees++;
	total->live_blocks--;
	total->live_bytes -= bytes;
}

void sim_stat_reclaim(const struct sim_device *device, enum sim_kind kind, uint64_t bytes)
{
	struct totals *total = totals_of(device, kind);

	if (!total)
		return;
	total->reclaimed++;
	total->live_blocks--;
	total->live_bytes -= bytes;
}

void sim_stats_write(void)
{
	FILE *file = sim_config()->stats ? fopen(sim_config()->stats, "a") : NULL;

	if (!file)
		return;
	for (unsigned int d = 0; d < sim_config()->devices; d++) {
		for (int k = 0; k < SIM_NR_STATS; k++) {
			const struct totals *t = &totals[d][k];

			if (!t->allocations)
				continue;
			fprintf(file,
				"device=%u kind=%s allocations=%" PRIu64 " frees=%" PRIu64
				" reclaimed=%" PRIu64 " live_blocks=%" PRIu64 " live_bytes=%" PRIu64
				"\n",
				d, kind_names[k], t->allocations, t->frees, t->reclaimed,
				t->live_blocks, t->live_bytes);
		}
	}
	fclose(file);
}
