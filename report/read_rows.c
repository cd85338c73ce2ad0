/* The rows of a trace, one function each. Every length and reference is checked: see read_trace.c.
 */
#include "report/read_rows.h"

#include <stdlib.h>
#include <string.h>

#include "preload/trace.h"

bool gmt_trace_fail(struct reader *reader, const char *problem)
{
	reader->problem = problem;
	return false;
}

static bool take(struct reader *reader, void *out, size_t bytes)
{
	if ((size_t)(reader->end - reader->at) < bytes)
		return gmt_trace_fail(reader, "a record is shorter than its contents");
	memcpy(out, reader->at, bytes);
	reader->at += bytes;
	return true;
}

static bool take_text(struct reader *reader, uint32_t bytes)
{
	if (bytes > GMT_NAME_MAX)
		return gmt_trace_fail(reader, "a string is too long");
	if (!take(reader, reader->text, bytes))
		return false;
	reader->text[bytes] = '\0';
	return true;
}

/* A copy in the ledger of a string of the record. NULL: the problem is set. */
static const char *keep_text(struct reader *reader, uint32_t bytes)
{
	const char *copy;

	if (!take_text(reader, bytes))
		return NULL;
	copy = gmt_ledger_string(reader->ledger, reader->text);
	if (!copy)
		gmt_trace_fail(reader, "out of memory");
	return copy;
}

bool gmt_trace_kept(struct reader *reader, bool done)
{
	return done || gmt_trace_fail(reader, "out of memory, or a row that refers to nothing");
}

static bool read_text(struct reader *reader)
{
	struct gmt_ledger *ledger = reader->ledger;
	struct gmt_trace_text row;
	const char **single = NULL;

	if (!take(reader, &row, sizeof(row)) || !take_text(reader, row.bytes))
		return false;
	switch (row.what) {
	case GMT_TEXT_EXE:
		single = &ledger->exe;
		break;
	case GMT_TEXT_HOST:
		single = &ledger->host;
		break;
	case GMT_TEXT_VERSION:
		single = &ledger->version;
		break;
	case GMT_TEXT_REPORT_PATH:
		single = &ledger->report_path;
		break;
	case GMT_TEXT_JSON_PATH:
		single = &ledger->json_path;
		break;
	case GMT_TEXT_ARGV:
		return gmt_trace_kept(reader,
				      gmt_ledger_push_name(ledger, &ledger->argv, &ledger->argc,
							   &reader->argv_room, reader->text));
	case GMT_TEXT_PASSED:
		return gmt_trace_kept(reader,
				      gmt_ledger_push_name(ledger, &ledger->passed_through,
							   &ledger->nr_passed_through,
							   &reader->passed_room, reader->text));
	case GMT_TEXT_NOTE:
		return gmt_trace_kept(reader, gmt_ledger_note(ledger, reader->text));
	default:
		return true; /* of a later version */
	}
	*single = gmt_ledger_string(ledger, reader->text);
	return gmt_trace_kept(reader, *single != NULL);
}

static bool read_api(struct reader *reader)
{
	struct gmt_trace_api row;
	struct gmt_api_names *names;

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.id >= GMT_MAX_APIS)
		return gmt_trace_fail(reader, "an entry's number is out of range");
	names = &reader->ledger->apis[row.id];
	names->abi = keep_text(reader, row.abi_bytes);
	if (!names->abi)
		return false;
	names->runtime = row.runtime_bytes ? keep_text(reader, row.runtime_bytes) : NULL;
	return !row.runtime_bytes || names->runtime;
}

static bool read_counter(struct reader *reader)
{
	struct gmt_ledger *ledger = reader->ledger;
	struct gmt_trace_counter row;
	uint32_t i = 0;

	if (!take(reader, &row, sizeof(row)))
		return false;
	while (i < GMT_MAX_COUNTERS && ledger->counters[i].name)
		i++;
	if (i + 1 >= GMT_MAX_COUNTERS)
		return gmt_trace_fail(reader, "too many counters");
	ledger->counters[i].value = row.value;
	ledger->counters[i].text = "";
	ledger->counters[i].name = keep_text(reader, row.name_bytes);
	if (!ledger->counters[i].name)
		return false;
	ledger->counters[i].text = keep_text(reader, row.text_bytes);
	return ledger->counters[i].text != NULL;
}

static bool read_totals(struct reader *reader)
{
	struct gmt_ledger *ledger = reader->ledger;
	struct gmt_trace_totals row;

	if (!take(reader, &row, sizeof(row)))
		return false;
	ledger->failed_allocations = row.failed_allocations;
	memcpy(ledger->routes, row.routes, sizeof(ledger->routes));
	ledger->hook_calls = row.hook_calls;
	ledger->hook_ns = row.hook_ns;
	ledger->host_bytes = row.host_bytes;
	ledger->trace_bytes = row.trace_bytes;
	ledger->next_seq = row.next_seq;
	for (int kind = 0; kind < GMT_NR_KINDS; kind++)
		ledger->kinds[kind] = (struct gmt_kind_totals){
			.allocations = row.kinds[kind].allocations,
			.frees = row.kinds[kind].frees,
			.live_bytes = row.kinds[kind].live_bytes,
			.live_blocks = row.kinds[kind].live_blocks,
			.peak_bytes = row.kinds[kind].peak_bytes,
		};
	ledger->process_scope = (struct gmt_scope){
		.live_bytes = row.process.live_bytes,
		.live_blocks = row.process.live_blocks,
		.peak_bytes = row.process.peak_bytes,
		.peak_blocks = row.process.peak_blocks,
		.peak_time_ns = row.process.peak_time_ns,
		.generation = row.process.generation,
	};
	ledger->vmm = (struct gmt_vmm_totals){
		.mappings = row.vmm.mappings,
		.mapped_bytes = row.vmm.mapped_bytes,
		.reservations = row.vmm.reservations,
		.reserved_bytes = row.vmm.reserved_bytes,
	};
	ledger->cupti = row.cupti < GMT_NR_CUPTI ? row.cupti : GMT_CUPTI_OFF;
	return true;
}

static bool read_device(struct reader *reader)
{
	struct gmt_trace_device row;
	struct gmt_device *device;

	if (!take(reader, &row, sizeof(row)) || !take_text(reader, row.name_bytes))
		return false;
	if (!gmt_ledger_set_device(reader->ledger, &row.facts,
				   row.name_bytes ? reader->text : NULL))
		return gmt_trace_fail(reader, "a device's ordinal is out of range");
	device = &reader->ledger->devices[row.facts.ordinal];
	device->sample = row.sample;
	device->sample.ordinal = row.facts.ordinal;
	device->scope = (struct gmt_scope){
		.live_bytes = row.live_bytes,
		.live_blocks = row.live_blocks,
		.peak_bytes = row.peak_bytes,
		.peak_blocks = row.peak_blocks,
		.peak_time_ns = row.peak_time_ns,
		.generation = row.generation,
	};
	device->pages = (struct gmt_page_totals){
		.small_pages = row.small_pages,
		.small_bytes = row.small_bytes,
		.small_blocks = row.small_blocks,
		.rounding_bytes = row.rounding_bytes,
		.worst_pinned = row.worst_pinned,
		.worst_pages = row.worst_pages,
		.worst_small_bytes = row.worst_small_bytes,
		.worst_time_ns = row.worst_time_ns,
		.generation = row.worst_generation,
	};
	return true;
}

static bool read_pool(struct reader *reader)
{
	struct gmt_trace_pool row;

	if (!take(reader, &row, sizeof(row)))
		return false;
	return gmt_trace_kept(reader,
			      gmt_ledger_put_pool(reader->ledger, &row.sample, row.pool, row.device,
						  row.used_bytes, row.used_peak));
}

static bool read_module(struct reader *reader)
{
	struct gmt_trace_module row;
	struct gmt_module module;

	if (!take(reader, &row, sizeof(row)) || !take_text(reader, row.path_bytes))
		return false;
	if (row.build_id_bytes > sizeof(row.build_id))
		return gmt_trace_fail(reader, "a build-id is too long");
	module = (struct gmt_module){
		.base = row.base,
		.bytes = row.bytes,
		.path = reader->text,
		.build_id_bytes = row.build_id_bytes,
		.runtime_lo = row.runtime_lo,
	};
	memcpy(module.build_id, row.build_id, sizeof(module.build_id));
	return gmt_trace_kept(reader, gmt_ledger_add_module(reader->ledger, &module));
}

static bool read_stack(struct reader *reader)
{
	struct gmt_frame frames[GMT_MAX_FRAMES];
	struct gmt_trace_stack row;

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.nr_frames > GMT_MAX_FRAMES)
		return gmt_trace_fail(reader, "a stack is too deep");
	if (!take(reader, frames, row.nr_frames * sizeof(*frames)))
		return false;
	for (uint32_t i = 0; i < row.nr_frames; i++)
		if (frames[i].module > reader->ledger->nr_modules)
			return gmt_trace_fail(reader, "a frame names a module that is not there");
	return gmt_trace_kept(reader,
			      gmt_ledger_add_stack(reader->ledger, row.id, frames, row.nr_frames));
}

static bool read_site(struct reader *reader)
{
	struct gmt_site row;

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.kind >= GMT_NR_KINDS || row.id != reader->ledger->nr_sites + 1 ||
	    row.device < GMT_NO_DEVICE || row.device >= GMT_MAX_DEVICES ||
	    row.stack > reader->ledger->nr_stacks)
		return gmt_trace_fail(reader, "a site's numbers are out of range");
	return gmt_trace_kept(reader, gmt_ledger_put_site(reader->ledger, &row));
}

static bool read_block(struct reader *reader)
{
	struct gmt_trace_block row;

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.state > GMT_BLOCK_RESET)
		return gmt_trace_fail(reader, "a block's state is unknown");
	return gmt_trace_kept(reader,
			      gmt_ledger_put_block(reader->ledger, row.site, row.addr, row.bytes,
						   row.time_ns, row.seq, row.pool, row.state));
}

static bool read_handle(struct reader *reader)
{
	struct gmt_trace_handle row;
	struct gmt_handle_view view = { 0 };
	struct gmt_event event = { 0 };

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.state != GMT_BLOCK_LIVE && row.state != GMT_BLOCK_TEARDOWN)
		return gmt_trace_fail(reader, "a handle's state is unknown");
	event.addr = row.value;
	event.bytes = row.bytes;
	event.time_ns = row.time_ns;
	view.references = row.references;
	view.releases = row.releases;
	view.mappings = row.mappings;
	return gmt_trace_kept(reader, gmt_ledger_put_handle(reader->ledger, &event, row.site,
							    row.seq, row.state, &view));
}

static bool read_kernel(struct reader *reader)
{
	struct gmt_trace_kernel row;
	struct gmt_trace_kernel_site share;
	struct gmt_kernel kernel;
	struct gmt_kernel_site *sites, *link = NULL;
	bool done = true;

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.nr_sites > (size_t)(reader->end - reader->at) / sizeof(share))
		return gmt_trace_fail(reader, "a kernel's sites do not fit its record");
	sites = calloc(row.nr_sites + 1, sizeof(*sites));
	if (!sites)
		return gmt_trace_fail(reader, "out of memory");
	for (uint32_t i = 0; i < row.nr_sites && done; i++) {
		done = take(reader, &share, sizeof(share));
		if (done && (share.site == 0 || share.site > reader->ledger->nr_sites))
			done = gmt_trace_fail(reader, "a kernel names a site that is not there");
		sites[i] = (struct gmt_kernel_site){ share.site, share.bytes, share.blocks, NULL };
		if (link)
			link->next = &sites[i];
		link = &sites[i];
	}
	done = done && take_text(reader, row.name_bytes);
	if (done) {
		kernel = (struct gmt_kernel){
			.name = reader->text,
			.device = row.device,
			.launches = row.launches,
			.records = row.records,
			.gpu_time_ns = row.gpu_time_ns,
			.bytes_referenced = row.bytes_referenced,
			.nr_streams = row.nr_streams,
			.sites = row.nr_sites ? sites : NULL,
		};
		memcpy(kernel.streams, row.streams, sizeof(kernel.streams));
		done = gmt_trace_kept(reader, gmt_ledger_put_kernel(reader->ledger, &kernel));
	}
	free(sites);
	return done;
}

static bool read_error(struct reader *reader)
{
	struct gmt_trace_error row;
	struct gmt_error *error;

	if (!take(reader, &row, sizeof(row)))
		return false;
	if (row.kind >= GMT_NR_ERRORS || row.stack > reader->ledger->nr_stacks ||
	    row.alloc_stack > reader->ledger->nr_stacks || row.api > UINT16_MAX)
		return gmt_trace_fail(reader, "an error's numbers are out of range");
	error = gmt_ledger_error(reader->ledger, &(struct gmt_error){
							 .address = row.address,
							 .time_ns = row.time_ns,
							 .stack = row.stack,
							 .alloc_stack = row.alloc_stack,
							 .api = (uint16_t)row.api,
							 .kind = (uint8_t)row.kind,
						 });
	if (error)
		error->count += row.count;
	return gmt_trace_kept(reader, error != NULL);
}

bool gmt_trace_read_row(struct reader *reader, uint32_t type)
{
	switch (type) {
	case GMT_TRACE_PROCESS:
		if (!take(reader, &reader->ledger->process, sizeof(struct gmt_process)))
			return false;
		if (reader->ledger->process.ended >= GMT_NR_ENDED)
			return gmt_trace_fail(reader, "the process's end is unknown");
		return true;
	case GMT_TRACE_SETTINGS:
		return take(reader, &reader->ledger->settings, sizeof(struct gmt_settings));
	case GMT_TRACE_TEXT:
		return read_text(reader);
	case GMT_TRACE_API:
		return read_api(reader);
	case GMT_TRACE_COUNTER:
		return read_counter(reader);
	case GMT_TRACE_TOTALS:
		return read_totals(reader);
	case GMT_TRACE_DEVICE:
		return read_device(reader);
	case GMT_TRACE_POOL:
		return read_pool(reader);
	case GMT_TRACE_MODULE:
		return read_module(reader);
	case GMT_TRACE_STACK:
		return read_stack(reader);
	case GMT_TRACE_SITE:
		return read_site(reader);
	case GMT_TRACE_BLOCK:
		return read_block(reader);
	case GMT_TRACE_HANDLE:
		return read_handle(reader);
	case GMT_TRACE_KERNEL:
		return read_kernel(reader);
	case GMT_TRACE_ERROR:
		return read_error(reader);
	default:
		return true; /* of a later version */
	}
}
