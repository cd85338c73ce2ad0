/* The parts of schema 1 that list call sites and devices, with keys in the contract's order. */
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>

static void put_sizes(struct gmt_json *json, const struct gmt_report_leak *leak)
{
	gmt_json_open(json, "sizes", '[');
	for (uint32_t i = 0; i < leak->nr_sizes; i++) {
		const struct gmt_report_size *size = &leak->sizes[i];

		gmt_json_open(json, NULL, '{');
		/* All further sizes together have no size of their own. */
		gmt_json_put(json, "size", size->rest ? json_null() : gmt_json_count(size->size));
		gmt_json_put(json, "blocks", gmt_json_count(size->blocks));
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

void gmt_json_leaks(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "leaks", '[');
	for (uint32_t i = 0; i < report->nr_leaks; i++) {
		const struct gmt_report_leak *leak = &report->leaks[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "bytes", gmt_json_count(leak->bytes));
		gmt_json_put(json, "blocks", gmt_json_count(leak->blocks));
		gmt_json_put(json, "kind", json_string(gmt_kind_names[leak->kind]));
		gmt_json_put(json, "device", gmt_json_device(leak->device));
		gmt_json_put(json, "api", gmt_json_text(leak->api));
		gmt_json_put(json, "class", json_string(gmt_class_names[leak->leak_class]));
		gmt_json_put(json, "reachability", json_string("unknown"));
		gmt_json_put(json, "reachable_from", json_null());
		gmt_json_put(json, "owner", gmt_json_text(leak->owner));
		gmt_json_put(json, "site", gmt_json_address(leak->stack->site));
		put_sizes(json, leak);
		gmt_json_put(json, "first_time", gmt_json_time(leak->first_ns));
		gmt_json_put(json, "last_time", gmt_json_time(leak->last_ns));
		gmt_json_stack(json, "stack", leak->stack);
		gmt_json_put(json, "suppressed_by", json_null());
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

void gmt_json_errors(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "errors", '[');
	for (uint32_t i = 0; i < report->nr_errors; i++) {
		const struct gmt_report_error *error = &report->errors[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "kind", json_string(error->kind));
		gmt_json_put(json, "api", gmt_json_text(error->api));
		gmt_json_put(json, "address", gmt_json_address(error->address));
		gmt_json_put(json, "time", gmt_json_time(error->time_ns));
		gmt_json_put(json, "count", gmt_json_count(error->count));
		gmt_json_stack(json, "stack", error->stack);
		gmt_json_stack(json, "alloc_stack", error->alloc_stack);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

void gmt_json_peaks(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "peaks", '[');
	for (uint32_t i = 0; i < report->nr_peaks; i++) {
		const struct gmt_report_peak *peak = &report->peaks[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "device", gmt_json_device(peak->device));
		gmt_json_put(json, "bytes", gmt_json_count(peak->bytes));
		gmt_json_put(json, "time", gmt_json_time(peak->time_ns));
		gmt_json_shares(json, "sites", &peak->owners);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

void gmt_json_sites(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "sites", '[');
	for (uint32_t i = 0; i < report->nr_sites; i++) {
		const struct gmt_report_site *site = &report->sites[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "site", gmt_json_address(site->stack->site));
		gmt_json_put(json, "allocations", gmt_json_count(site->allocations));
		gmt_json_put(json, "frees", gmt_json_count(site->frees));
		gmt_json_put(json, "live_bytes", gmt_json_count(site->live_bytes));
		gmt_json_put(json, "peak_bytes", gmt_json_count(site->peak_bytes));
		gmt_json_put(json, "total_bytes", gmt_json_count(site->total_bytes));
		gmt_json_put(json, "lifetime_median",
			     site->lifetime_median < 0 ? json_null()
						       : json_real(site->lifetime_median));
		gmt_json_stack(json, "stack", site->stack);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

static void put_streams(struct gmt_json *json, const struct gmt_kernel *kernel)
{
	gmt_json_open(json, "streams", '[');
	for (uint32_t i = 0; i < kernel->nr_streams && i < GMT_KERNEL_STREAMS; i++) {
		char text[24];

		snprintf(text, sizeof(text), "0x%" PRIx64, kernel->streams[i]);
		gmt_json_put(json, NULL, json_string(text));
	}
	gmt_json_close(json, ']');
}

void gmt_json_kernels(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "kernels", '[');
	for (uint32_t i = 0; i < report->nr_kernels; i++) {
		const struct gmt_report_kernel *kernel = &report->kernels[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "name", gmt_json_text(kernel->name));
		gmt_json_put(json, "launches", gmt_json_count(kernel->launches));
		gmt_json_put(json, "gpu_time",
			     kernel->kernel->records ? gmt_json_time(kernel->kernel->gpu_time_ns)
						     : json_null());
		gmt_json_put(json, "bytes_referenced",
			     gmt_json_count(kernel->kernel->bytes_referenced));
		gmt_json_shares(json, "sites", &kernel->passed);
		gmt_json_put(json, "device", gmt_json_device(kernel->kernel->device));
		put_streams(json, kernel->kernel);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

static json_t *uuid(const struct gmt_device_facts *facts)
{
	char text[48] = "GPU-";
	size_t at = 4;
	bool known = false;

	for (size_t i = 0; i < sizeof(facts->uuid); i++) {
		known |= facts->uuid[i] != 0;
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		snprintf(text + at, sizeof(text) - at, "%02x", facts->uuid[i]);
		at += 2;
	}
	return known ? json_string(text) : json_null();
}

static void put_balance(struct gmt_json *json, const struct gmt_report_balance *sums)
{
	bool valid = sums->valid;

	gmt_json_open(json, "balance", '{');
	gmt_json_put(json, "time", valid ? gmt_json_time(sums->time_ns) : json_null());
	gmt_json_put(json, "driver_used", valid ? gmt_json_count(sums->driver_used) : json_null());
	gmt_json_put(json, "tracked", valid ? gmt_json_count(sums->tracked) : json_null());
	gmt_json_put(json, "rounding", valid ? gmt_json_count(sums->rounding) : json_null());
	gmt_json_put(json, "pinned_pages",
		     valid ? gmt_json_count(sums->pinned_pages) : json_null());
	gmt_json_put(json, "pool_idle", valid ? gmt_json_count(sums->pool_idle) : json_null());
	gmt_json_put(json, "graph_idle", valid ? json_integer(0) : json_null());
	gmt_json_put(json, "context", json_null());
	gmt_json_put(json, "other_processes", json_null());
	gmt_json_put(json, "unaccounted", valid ? json_integer(sums->unaccounted) : json_null());
	gmt_json_close(json, '}');
}

void gmt_json_devices(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "devices", '[');
	for (uint32_t i = 0; i < report->nr_devices; i++) {
		const struct gmt_device *device = report->devices[i].device;
		const struct gmt_scope *scope = &device->scope;

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "ordinal", json_integer(report->devices[i].ordinal));
		gmt_json_put(json, "name", gmt_json_text(device->name));
		gmt_json_put(json, "uuid", uuid(&device->facts));
		gmt_json_put(json, "mig", json_boolean(device->facts.mig));
		gmt_json_put(json, "total_bytes",
			     device->facts.total_bytes ? gmt_json_count(device->facts.total_bytes)
						       : json_null());
		gmt_json_put(json, "live_bytes", gmt_json_count(scope->live_bytes));
		gmt_json_put(json, "live_blocks", gmt_json_count(scope->live_blocks));
		gmt_json_put(json, "peak_bytes", gmt_json_count(scope->peak_bytes));
		gmt_json_put(json, "peak_time",
			     scope->peak_bytes ? gmt_json_time(scope->peak_time_ns) : json_null());
		put_balance(json, &report->devices[i].balance);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

static void put_pinners(struct gmt_json *json, const struct gmt_report_shares *shares)
{
	gmt_json_open(json, "sites", '[');
	for (uint32_t i = 0; i < shares->nr_shares; i++) {
		const struct gmt_report_share *share = &shares->shares[i];

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "site", gmt_json_address(share->stack->site));
		gmt_json_put(json, "bytes", gmt_json_count(share->bytes));
		gmt_json_put(json, "blocks", gmt_json_count(share->blocks));
		gmt_json_put(json, "pages", gmt_json_count(share->pages));
		gmt_json_put(json, "worst_bytes", gmt_json_count(share->worst_bytes));
		gmt_json_put(json, "worst_blocks", gmt_json_count(share->worst_blocks));
		gmt_json_stack(json, "stack", share->stack);
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

static void put_fragmented(struct gmt_json *json, const struct gmt_report_device *device)
{
	const struct gmt_page_totals *pages = &device->device->pages;

	gmt_json_open(json, NULL, '{');
	gmt_json_put(json, "ordinal", json_integer(device->ordinal));
	gmt_json_put(json, "small_pages", gmt_json_count(pages->small_pages));
	gmt_json_put(json, "small_pages_bytes", gmt_json_count(device->small_page_bytes));
	gmt_json_put(json, "small_live_bytes", gmt_json_count(pages->small_bytes));
	gmt_json_put(json, "pinned_bytes", gmt_json_count(device->pinned_bytes));
	gmt_json_put(json, "rounding_bytes", gmt_json_count(pages->rounding_bytes));
	gmt_json_put(json, "worst_time",
		     pages->worst_pinned ? gmt_json_time(pages->worst_time_ns) : json_null());
	gmt_json_put(json, "worst_pinned_bytes", gmt_json_count(pages->worst_pinned));
	gmt_json_put(json, "worst_small_pages", gmt_json_count(pages->worst_pages));
	put_pinners(json, &device->pinners);
	gmt_json_close(json, '}');
}

static void put_pools(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	gmt_json_open(json, "pools", '[');
	for (const struct gmt_pool *pool = ledger->pools; pool; pool = pool->next) {
		const struct gmt_pool_sample *sample = &pool->sample;
		uint64_t handle = sample->valid && sample->handle ? sample->handle : pool->pool;

		gmt_json_open(json, NULL, '{');
		gmt_json_put(json, "handle", handle ? gmt_json_address(handle) : json_null());
		gmt_json_put(json, "device", gmt_json_device(pool->device));
		gmt_json_put(json, "reserved_bytes",
			     sample->valid ? gmt_json_count(sample->reserved_bytes) : json_null());
		gmt_json_put(json, "used_bytes",
			     gmt_json_count(sample->valid ? sample->used_bytes : pool->used_bytes));
		gmt_json_put(json, "reserved_peak",
			     sample->valid ? gmt_json_count(sample->reserved_peak) : json_null());
		gmt_json_put(json, "used_peak",
			     gmt_json_count(sample->valid ? sample->used_peak : pool->used_peak));
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, ']');
}

void gmt_json_fragmentation(struct gmt_json *json, const struct gmt_report *report)
{
	const struct gmt_ledger *ledger = report->ledger;
	const struct gmt_kind_totals *handles = &ledger->kinds[GMT_KIND_VMM];

	gmt_json_open(json, "fragmentation", '{');
	gmt_json_open(json, "devices", '[');
	for (uint32_t i = 0; i < report->nr_devices; i++)
		put_fragmented(json, &report->devices[i]);
	gmt_json_close(json, ']');
	put_pools(json, ledger);
	gmt_json_open(json, "vmm", '{');
	gmt_json_put(json, "created", gmt_json_count(handles->allocations));
	gmt_json_put(json, "released", gmt_json_count(handles->frees));
	gmt_json_put(json, "live_bytes", gmt_json_count(handles->live_bytes));
	gmt_json_put(json, "mapped_bytes", gmt_json_count(ledger->vmm.mapped_bytes));
	gmt_json_put(json, "reserved_va", gmt_json_count(ledger->vmm.reserved_bytes));
	gmt_json_close(json, '}');
	gmt_json_close(json, '}');
}
