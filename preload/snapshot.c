/*
 * Owns a buffer while it writes. Runs at the end, in the thread that ends the process, when the
 * ledger is at rest.
 */
#define _GNU_SOURCE
#include "preload/snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "preload/ledger.h"
#include "preload/trace.h"

#define BUFFER_BYTES (256 * 1024)

struct writer {
	int fd;
	bool failed;
	size_t used;
	char buffer[BUFFER_BYTES];
};

static void flush(struct writer *writer)
{
	size_t done = 0;

	while (done < writer->used && !writer->failed) {
		ssize_t wrote = write(writer->fd, writer->buffer + done, writer->used - done);

		if (wrote > 0)
			done += (size_t)wrote;
		else if (wrote == 0 || errno != EINTR)
			writer->failed = true;
	}
	writer->used = 0;
}

static void put(struct writer *writer, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes && !writer->failed) {
		size_t part = BUFFER_BYTES - writer->used;

		if (part > bytes)
			part = bytes;
		memcpy(writer->buffer + writer->used, from, part);
		writer->used += part;
		from += part;
		bytes -= part;
		if (writer->used == BUFFER_BYTES)
			flush(writer);
	}
}

struct piece {
	const void *data;
	size_t bytes;
};

static void put_record(struct writer *writer, enum gmt_trace_type type, const struct piece *pieces,
		       unsigned int nr_pieces)
{
	static const char padding[8];
	struct gmt_trace_record record = { .type = type };
	size_t bytes = sizeof(record);

	for (unsigned int i = 0; i < nr_pieces; i++)
		bytes += pieces[i].bytes;
	record.bytes = (uint32_t)((bytes + 7) & ~(size_t)7);
	put(writer, &record, sizeof(record));
	for (unsigned int i = 0; i < nr_pieces; i++)
		put(writer, pieces[i].data, pieces[i].bytes);
	put(writer, padding, record.bytes - bytes);
}

#define PUT(writer, type, ...)                                                                     \
	put_record(writer, type, (const struct piece[]){ __VA_ARGS__ },                            \
		   sizeof((const struct piece[]){ __VA_ARGS__ }) / sizeof(struct piece))

static size_t length(const char *text)
{
	return text ? strnlen(text, GMT_NAME_MAX) : 0;
}

static void put_text(struct writer *writer, enum gmt_text what, const char *text)
{
	struct gmt_trace_text row = { .what = what, .bytes = (uint32_t)length(text) };

	if (text)
		PUT(writer, GMT_TRACE_TEXT, { &row, sizeof(row) }, { text, row.bytes });
}

static void put_texts(struct writer *writer, const struct gmt_ledger *ledger)
{
	put_text(writer, GMT_TEXT_EXE, ledger->exe);
	put_text(writer, GMT_TEXT_HOST, ledger->host);
	put_text(writer, GMT_TEXT_VERSION, ledger->version);
	put_text(writer, GMT_TEXT_REPORT_PATH, ledger->report_path);
	put_text(writer, GMT_TEXT_JSON_PATH, ledger->json_path);
	for (uint32_t i = 0; i < ledger->argc; i++)
		put_text(writer, GMT_TEXT_ARGV, ledger->argv[i]);
	for (uint32_t i = 0; i < ledger->nr_passed_through; i++)
		put_text(writer, GMT_TEXT_PASSED, ledger->passed_through[i]);
	for (const struct gmt_note *note = ledger->notes; note; note = note->next)
		put_text(writer, GMT_TEXT_NOTE, note->text);
}

static void put_names(struct writer *writer, const struct gmt_ledger *ledger)
{
	for (uint32_t id = 0; id < GMT_MAX_APIS; id++) {
		const struct gmt_api_names *names = &ledger->apis[id];
		struct gmt_trace_api row = { .id = id };

		if (!names->abi)
			continue;
		row.abi_bytes = (uint32_t)length(names->abi);
		row.runtime_bytes = (uint32_t)length(names->runtime);
		PUT(writer, GMT_TRACE_API, { &row, sizeof(row) }, { names->abi, row.abi_bytes },
		    { names->runtime, row.runtime_bytes });
	}
	for (uint32_t i = 0; i < GMT_MAX_COUNTERS && ledger->counters[i].name; i++) {
		struct gmt_trace_counter row = { .value = ledger->counters[i].value };

		row.name_bytes = (uint32_t)length(ledger->counters[i].name);
		row.text_bytes = (uint32_t)length(ledger->counters[i].text);
		PUT(writer, GMT_TRACE_COUNTER, { &row, sizeof(row) },
		    { ledger->counters[i].name, row.name_bytes },
		    { ledger->counters[i].text, row.text_bytes });
	}
}

static void put_totals(struct writer *writer, const struct gmt_ledger *ledger)
{
	const struct gmt_scope *scope = &ledger->process_scope;
	struct gmt_trace_totals row = {
		.failed_allocations = ledger->failed_allocations,
		.hook_calls = ledger->hook_calls,
		.hook_ns = ledger->hook_ns,
		.host_bytes = ledger->host_bytes,
		.trace_bytes = ledger->trace_bytes,
		.next_seq = ledger->next_seq,
		.process = { scope->live_bytes, scope->live_blocks, scope->peak_bytes,
			     scope->peak_blocks, scope->peak_time_ns, scope->generation },
		.vmm = { ledger->vmm.mappings, ledger->vmm.mapped_bytes, ledger->vmm.reservations,
			 ledger->vmm.reserved_bytes },
		.cupti = ledger->cupti,
	};

	memcpy(row.routes, ledger->routes, sizeof(row.routes));
	for (int kind = 0; kind < GMT_NR_KINDS; kind++) {
		row.kinds[kind].allocations = ledger->kinds[kind].allocations;
		row.kinds[kind].frees = ledger->kinds[kind].frees;
		row.kinds[kind].live_bytes = ledger->kinds[kind].live_bytes;
		row.kinds[kind].live_blocks = ledger->kinds[kind].live_blocks;
		row.kinds[kind].peak_bytes = ledger->kinds[kind].peak_bytes;
	}
	PUT(writer, GMT_TRACE_TOTALS, { &row, sizeof(row) });
}

static void put_device(struct writer *writer, const struct gmt_device *device, int32_t ordinal)
{
	struct gmt_trace_device row = {
		.facts = device->facts,
		.sample = device->sample,
		.live_bytes = device->scope.live_bytes,
		.live_blocks = device->scope.live_blocks,
		.peak_bytes = device->scope.peak_bytes,
		.peak_blocks = device->scope.peak_blocks,
		.peak_time_ns = device->scope.peak_time_ns,
		.generation = device->scope.generation,
		.small_pages = device->pages.small_pages,
		.small_bytes = device->pages.small_bytes,
		.small_blocks = device->pages.small_blocks,
		.rounding_bytes = device->pages.rounding_bytes,
		.worst_pinned = device->pages.worst_pinned,
		.worst_pages = device->pages.worst_pages,
		.worst_small_bytes = device->pages.worst_small_bytes,
		.worst_time_ns = device->pages.worst_time_ns,
		.worst_generation = device->pages.generation,
		.name_bytes = (uint32_t)length(device->name),
	};

	row.facts.ordinal = ordinal;
	PUT(writer, GMT_TRACE_DEVICE, { &row, sizeof(row) }, { device->name, row.name_bytes });
}

static void put_devices(struct writer *writer, const struct gmt_ledger *ledger)
{
	for (int32_t ordinal = 0; ordinal < GMT_MAX_DEVICES; ordinal++)
		if (ledger->devices[ordinal].seen)
			put_device(writer, &ledger->devices[ordinal], ordinal);
	for (const struct gmt_pool *pool = ledger->pools; pool; pool = pool->next) {
		struct gmt_trace_pool row = {
			.sample = pool->sample,
			.pool = pool->pool,
			.used_bytes = pool->used_bytes,
			.used_peak = pool->used_peak,
			.device = pool->device,
		};

		PUT(writer, GMT_TRACE_POOL, { &row, sizeof(row) });
	}
}

static void put_stacks(struct writer *writer, const struct gmt_ledger *ledger)
{
	for (uint32_t i = 0; i < ledger->nr_modules; i++) {
		const struct gmt_module *module = ledger->modules[i];
		struct gmt_trace_module row = {
			.base = module->base,
			.bytes = module->bytes,
			.runtime_lo = module->runtime_lo,
			.build_id_bytes = module->build_id_bytes,
			.path_bytes = (uint32_t)length(module->path),
		};

		memcpy(row.build_id, module->build_id, sizeof(row.build_id));
		PUT(writer, GMT_TRACE_MODULE, { &row, sizeof(row) },
		    { module->path, row.path_bytes });
	}
	for (uint32_t i = 0; i < ledger->nr_stacks; i++) {
		const struct gmt_stack *stack = ledger->stacks[i];
		struct gmt_trace_stack row;

		if (!stack)
			continue;
		row = (struct gmt_trace_stack){ stack->id, stack->nr_frames };
		PUT(writer, GMT_TRACE_STACK, { &row, sizeof(row) },
		    { stack->frames, stack->nr_frames * sizeof(*stack->frames) });
	}
}

static void put_handle(struct writer *writer, const struct gmt_block_view *block)
{
	struct gmt_trace_handle row = {
		.value = block->addr,
		.bytes = block->bytes,
		.time_ns = block->time_ns,
		.seq = block->seq,
		.site = block->site->id,
		.state = block->state,
		.references = block->handle.references,
		.releases = block->handle.releases,
		.mappings = block->handle.mappings,
	};

	PUT(writer, GMT_TRACE_HANDLE, { &row, sizeof(row) });
}

static bool put_block(const struct gmt_block_view *block, void *data)
{
	struct gmt_trace_block row = {
		.addr = block->addr,
		.bytes = block->bytes,
		.time_ns = block->time_ns,
		.seq = block->seq,
		.pool = block->pool,
		.site = block->site->id,
		.state = block->state,
	};

	if (block->handle.state)
		put_handle(data, block);
	else
		PUT(data, GMT_TRACE_BLOCK, { &row, sizeof(row) });
	return !((struct writer *)data)->failed;
}

static void put_kernel(struct writer *writer, const struct gmt_kernel *kernel)
{
	struct gmt_trace_record record = { .type = GMT_TRACE_KERNEL };
	struct gmt_trace_kernel row = {
		.launches = kernel->launches,
		.records = kernel->records,
		.gpu_time_ns = kernel->gpu_time_ns,
		.bytes_referenced = kernel->bytes_referenced,
		.device = kernel->device,
		.nr_streams = kernel->nr_streams,
		.name_bytes = (uint32_t)length(kernel->name),
	};
	static const char padding[8];
	size_t bytes;

	_Static_assert(sizeof(row.streams) == sizeof(kernel->streams),
		       "as many as the ledger keeps");
	memcpy(row.streams, kernel->streams, sizeof(row.streams));
	for (const struct gmt_kernel_site *site = kernel->sites; site; site = site->next)
		row.nr_sites++;
	bytes = sizeof(record) + sizeof(row) + row.nr_sites * sizeof(struct gmt_trace_kernel_site) +
		row.name_bytes;
	record.bytes = (uint32_t)((bytes + 7) & ~(size_t)7);
	put(writer, &record, sizeof(record));
	put(writer, &row, sizeof(row));
	for (const struct gmt_kernel_site *site = kernel->sites; site; site = site->next) {
		struct gmt_trace_kernel_site share = { site->bytes, site->blocks, site->site, 0 };

		put(writer, &share, sizeof(share));
	}
	put(writer, kernel->name, row.name_bytes);
	put(writer, padding, record.bytes - bytes);
}

static void put_errors(struct writer *writer, const struct gmt_ledger *ledger)
{
	for (const struct gmt_error *error = ledger->errors; error; error = error->next) {
		struct gmt_trace_error row = {
			.address = error->address,
			.time_ns = error->time_ns,
			.count = error->count,
			.stack = error->stack,
			.alloc_stack = error->alloc_stack,
			.api = error->api,
			.kind = error->kind,
		};

		PUT(writer, GMT_TRACE_ERROR, { &row, sizeof(row) });
	}
}

static void put_all(struct writer *writer, const struct gmt_ledger *ledger)
{
	struct gmt_trace_header header = {
		.magic = GMT_TRACE_MAGIC,
		.version = GMT_TRACE_VERSION,
		.header_bytes = sizeof(header),
		.byte_order = GMT_BYTE_ORDER,
	};

	put(writer, &header, sizeof(header));
	PUT(writer, GMT_TRACE_PROCESS, { &ledger->process, sizeof(ledger->process) });
	PUT(writer, GMT_TRACE_SETTINGS, { &ledger->settings, sizeof(ledger->settings) });
	put_texts(writer, ledger);
	put_names(writer, ledger);
	put_totals(writer, ledger);
	put_devices(writer, ledger);
	put_stacks(writer, ledger);
	for (uint32_t i = 0; i < ledger->nr_sites; i++)
		PUT(writer, GMT_TRACE_SITE, { ledger->sites[i], sizeof(struct gmt_site) });
	gmt_ledger_each_block(ledger, put_block, writer);
	for (const struct gmt_kernel *kernel = ledger->kernels; kernel; kernel = kernel->next)
		put_kernel(writer, kernel);
	put_errors(writer, ledger);
	put_record(writer, GMT_TRACE_END, NULL, 0);
	flush(writer);
}

bool gmt_snapshot_write(const struct gmt_ledger *ledger, int fd)
{
	/* One writer at a time, and the exit path of a thread may have a small stack. */
	static struct writer writer;

	writer.fd = fd;
	writer.failed = false;
	writer.used = 0;
	put_all(&writer, ledger);
	return !writer.failed;
}
