/* The parts of schema 1 that list call sites and devices, with keys in the contract's order. */
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>

static json_t *sizes(struct gmt_json *json, const struct gmt_report_leak *leak)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < leak->nr_sizes; i++) {
		const struct gmt_report_size *size = &leak->sizes[i];
		json_t *object = json_object();

		/* All further sizes together have no size of their own. */
		gmt_json_put(json, object, "size",
			     size->rest ? json_null() : gmt_json_count(size->size));
		gmt_json_put(json, object, "blocks", gmt_json_count(size->blocks));
		gmt_json_push(json, array, object);
	}
	return array;
}

json_t *gmt_json_leaks(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->nr_leaks; i++) {
		const struct gmt_report_leak *leak = &report->leaks[i];
		json_t *object = json_object();

		gmt_json_put(json, object, "bytes", gmt_json_count(leak->bytes));
		gmt_json_put(json, object, "blocks", gmt_json_count(leak->blocks));
		gmt_json_put(json, object, "kind", json_string(gmt_kind_names[leak->kind]));
		gmt_json_put(json, object, "device", gmt_json_device(leak->device));
		gmt_json_put(json, object, "api", gmt_json_text(leak->api));
		gmt_json_put(json, object, "class", json_string(gmt_class_names[leak->leak_class]));
		gmt_json_put(json, object, "reachability", json_string("unknown"));
		gmt_json_put(json, object, "reachable_from", json_null());
		gmt_json_put(json, object, "owner", gmt_json_text(leak->owner));
		gmt_json_put(json, object, "site", gmt_json_address(leak->stack->site));
		gmt_json_put(json, object, "sizes", sizes(json, leak));
		gmt_json_put(json, object, "first_time", gmt_json_time(leak->first_ns));
		gmt_json_put(json, object, "last_time", gmt_json_time(leak->last_ns));
		gmt_json_put(json, object, "stack", gmt_json_stack(json, leak->stack));
		gmt_json_put(json, object, "suppressed_by", json_null());
		gmt_json_push(json, array, object);
	}
	return array;
}

json_t *gmt_json_peaks(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->nr_peaks; i++) {
		const struct gmt_report_peak *peak = &report->peaks[i];
		json_t *object = json_object();

		gmt_json_put(json, object, "device", gmt_json_device(peak->device));
		gmt_json_put(json, object, "bytes", gmt_json_count(peak->bytes));
		gmt_json_put(json, object, "time", gmt_json_time(peak->time_ns));
		gmt_json_put(json, object, "sites", gmt_json_shares(json, &peak->owners));
		gmt_json_push(json, array, object);
	}
	return array;
}

json_t *gmt_json_sites(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->nr_sites; i++) {
		const struct gmt_report_site *site = &report->sites[i];
		json_t *object = json_object();

		gmt_json_put(json, object, "site", gmt_json_address(site->stack->site));
		gmt_json_put(json, object, "allocations", gmt_json_count(site->allocations));
		gmt_json_put(json, object, "frees", gmt_json_count(site->frees));
		gmt_json_put(json, object, "live_bytes", gmt_json_count(site->live_bytes));
		gmt_json_put(json, object, "peak_bytes", gmt_json_count(site->peak_bytes));
		gmt_json_put(json, object, "total_bytes", gmt_json_count(site->total_bytes));
		gmt_json_put(json, object, "lifetime_median",
			     site->lifetime_median < 0 ? json_null()
						       : json_real(site->lifetime_median));
		gmt_json_put(json, object, "stack", gmt_json_stack(json, site->stack));
		gmt_json_push(json, array, object);
	}
	return array;
}

static json_t *streams(struct gmt_json *json, const struct gmt_kernel *kernel)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < kernel->nr_streams && i < GMT_KERNEL_STREAMS; i++) {
		char text[24];

		snprintf(text, sizeof(text), "0x%" PRIx64, kernel->streams[i]);
		gmt_json_push(json, array, json_string(text));
	}
	return array;
}

json_t *gmt_json_kernels(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->nr_kernels; i++) {
		const struct gmt_report_kernel *kernel = &report->kernels[i];
		json_t *object = json_object();

		gmt_json_put(json, object, "name", gmt_json_text(kernel->name));
		gmt_json_put(json, object, "launches", gmt_json_count(kernel->launches));
		gmt_json_put(json, object, "gpu_time",
			     kernel->kernel->records ? gmt_json_time(kernel->kernel->gpu_time_ns)
						     : json_null());
		gmt_json_put(json, object, "bytes_referenced",
			     gmt_json_count(kernel->kernel->bytes_referenced));
		gmt_json_put(json, object, "sites", gmt_json_shares(json, &kernel->passed));
		gmt_json_put(json, object, "device", gmt_json_device(kernel->kernel->device));
		gmt_json_put(json, object, "streams", streams(json, kernel->kernel));
		gmt_json_push(json, array, object);
	}
	return array;
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

static json_t *balance(struct gmt_json *json, const struct gmt_report_balance *sums)
{
	json_t *object = json_object();
	bool valid = sums->valid;

	gmt_json_put(json, object, "time", valid ? gmt_json_time(sums->time_ns) : json_null());
	gmt_json_put(json, object, "driver_used",
		     valid ? gmt_json_count(sums->driver_used) : json_null());
	gmt_json_put(json, object, "tracked", valid ? gmt_json_count(sums->tracked) : json_null());
	gmt_json_put(json, object, "rounding",
		     valid ? gmt_json_count(sums->rounding) : json_null());
	gmt_json_put(json, object, "pinned_pages",
		     valid ? gmt_json_count(sums->pinned_pages) : json_null());
	gmt_json_put(json, object, "pool_idle",
		     valid ? gmt_json_count(sums->pool_idle) : json_null());
	gmt_json_put(json, object, "graph_idle", valid ? json_integer(0) : json_null());
	gmt_json_put(json, object, "context", json_null());
	gmt_json_put(json, object, "other_processes", json_null());
	gmt_json_put(json, object, "unaccounted",
		     valid ? json_integer(sums->unaccounted) : json_null());
	return object;
}

json_t *gmt_json_devices(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->nr_devices; i++) {
		const struct gmt_device *device = report->devices[i].device;
		const struct gmt_scope *scope = &device->scope;
		json_t *object = json_object();

		gmt_json_put(json, object, "ordinal", json_integer(report->devices[i].ordinal));
		gmt_json_put(json, object, "name", gmt_json_text(device->name));
		gmt_json_put(json, object, "uuid", uuid(&device->facts));
		gmt_json_put(json, object, "mig", json_boolean(device->facts.mig));
		gmt_json_put(json, object, "total_bytes",
			     device->facts.total_bytes ? gmt_json_count(device->facts.total_bytes)
						       : json_null());
		gmt_json_put(json, object, "live_bytes", gmt_json_count(scope->live_bytes));
		gmt_json_put(json, object, "live_blocks", gmt_json_count(scope->live_blocks));
		gmt_json_put(json, object, "peak_bytes", gmt_json_count(scope->peak_bytes));
		gmt_json_put(json, object, "peak_time",
			     scope->peak_bytes ? gmt_json_time(scope->peak_time_ns) : json_null());
		gmt_json_put(json, object, "balance", balance(json, &report->devices[i].balance));
		gmt_json_push(json, array, object);
	}
	return array;
}

static json_t *pinners(struct gmt_json *json, const struct gmt_report_shares *shares)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < shares->nr_shares; i++) {
		const struct gmt_report_share *share = &shares->shares[i];
		json_t *object = json_object();

		gmt_json_put(json, object, "site", gmt_json_address(share->stack->site));
		gmt_json_put(json, object, "bytes", gmt_json_count(share->bytes));
		gmt_json_put(json, object, "blocks", gmt_json_count(share->blocks));
		gmt_json_put(json, object, "pages", gmt_json_count(share->pages));
		gmt_json_put(json, object, "worst_bytes", gmt_json_count(share->worst_bytes));
		gmt_json_put(json, object, "worst_blocks", gmt_json_count(share->worst_blocks));
		gmt_json_put(json, object, "stack", gmt_json_stack(json, share->stack));
		gmt_json_push(json, array, object);
	}
	return array;
}

static json_t *fragmented(struct gmt_json *json, const struct gmt_report_device *device)
{
	const struct gmt_page_totals *pages = &device->device->pages;
	json_t *object = json_object();

	gmt_json_put(json, object, "ordinal", json_integer(device->ordinal));
	gmt_json_put(json, object, "small_pages", gmt_json_count(pages->small_pages));
	gmt_json_put(json, object, "small_pages_bytes", gmt_json_count(device->small_page_bytes));
	gmt_json_put(json, object, "small_live_bytes", gmt_json_count(pages->small_bytes));
	gmt_json_put(json, object, "pinned_bytes", gmt_json_count(device->pinned_bytes));
	gmt_json_put(json, object, "rounding_bytes", gmt_json_count(pages->rounding_bytes));
	gmt_json_put(json, object, "worst_time",
		     pages->worst_pinned ? gmt_json_time(pages->worst_time_ns) : json_null());
	gmt_json_put(json, object, "worst_pinned_bytes", gmt_json_count(pages->worst_pinned));
	gmt_json_put(json, object, "worst_small_pages", gmt_json_count(pages->worst_pages));
	gmt_json_put(json, object, "sites", pinners(json, &device->pinners));
	return object;
}

static json_t *pools(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	json_t *array = json_array();

	for (const struct gmt_pool *pool = ledger->pools; pool; pool = pool->next) {
		const struct gmt_pool_sample *sample = &pool->sample;
		json_t *object = json_object();
		uint64_t handle = sample->valid && sample->handle ? sample->handle : pool->pool;

		gmt_json_put(json, object, "handle",
			     handle ? gmt_json_address(handle) : json_null());
		gmt_json_put(json, object, "device", gmt_json_device(pool->device));
		gmt_json_put(json, object, "reserved_bytes",
			     sample->valid ? gmt_json_count(sample->reserved_bytes) : json_null());
		gmt_json_put(json, object, "used_bytes",
			     gmt_json_count(sample->valid ? sample->used_bytes : pool->used_bytes));
		gmt_json_put(json, object, "reserved_peak",
			     sample->valid ? gmt_json_count(sample->reserved_peak) : json_null());
		gmt_json_put(json, object, "used_peak",
			     gmt_json_count(sample->valid ? sample->used_peak : pool->used_peak));
		gmt_json_push(json, array, object);
	}
	return array;
}

json_t *gmt_json_fragmentation(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *object = json_object(), *devices = json_array(), *vmm = json_object();

	for (uint32_t i = 0; i < report->nr_devices; i++)
		gmt_json_push(json, devices, fragmented(json, &report->devices[i]));
	gmt_json_put(json, vmm, "created", json_integer(0));
	gmt_json_put(json, vmm, "released", json_integer(0));
	gmt_json_put(json, vmm, "live_bytes", json_integer(0));
	gmt_json_put(json, vmm, "mapped_bytes", json_integer(0));
	gmt_json_put(json, vmm, "reserved_va", json_integer(0));
	gmt_json_put(json, object, "devices", devices);
	gmt_json_put(json, object, "pools", pools(json, report->ledger));
	gmt_json_put(json, object, "vmm", vmm);
	return object;
}
