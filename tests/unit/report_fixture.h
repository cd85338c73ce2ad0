/*
 * Ledgers made by hand, for the tests of report/: modules, stacks and a symbolizer that knows the
 * names it is told. Everything is static: each test runs in a process of its own.
 */
#ifndef GMT_TESTS_UNIT_REPORT_FIXTURE_H
#define GMT_TESTS_UNIT_REPORT_FIXTURE_H

#include <stdarg.h>
#include <string.h>

#include "preload/arena.h"
#include "preload/ledger.h"
#include "report/report.h"

#define UNUSED __attribute__((unused))

#define MIB (UINT64_C(1) << 20)

/* Rows of the fixture's table of APIs. */
enum { API_MALLOC, API_HOST_ALLOC };

/* What the fake symbolizer knows. */
struct known_name {
	uint32_t module;
	uint64_t offset;
	struct gmt_name name;
};

static struct {
	struct gmt_symbolizer base;
	struct known_name names[64];
	uint32_t nr_names;
} fake;

static bool fake_resolve(struct gmt_symbolizer *self, const struct gmt_module *module,
			 uint64_t offset, struct gmt_names *names)
{
	(void)self;
	names->count = 0;
	for (uint32_t i = 0; i < fake.nr_names; i++)
		if (fake.names[i].module == module->id && fake.names[i].offset == offset)
			names->names[names->count++] = fake.names[i].name;
	return names->count > 0;
}

static const char *fake_demangle(struct gmt_symbolizer *self, const char *raw)
{
	(void)self;
	return strcmp(raw, "_Z4axpyPf") == 0 ? "axpy(float*)" : raw;
}

static UNUSED struct gmt_symbolizer *symbolizer(void)
{
	fake.base.resolve = fake_resolve;
	fake.base.demangle = fake_demangle;
	return &fake.base;
}

/* Several names at one offset: inlined ones first. */
static UNUSED void name(uint32_t module, uint64_t offset, const char *function, const char *file,
			uint32_t line)
{
	fake.names[fake.nr_names++] = (struct known_name){
		.module = module,
		.offset = offset,
		.name = { .function = function, .file = file, .line = line },
	};
}

static UNUSED void inlined_name(uint32_t module, uint64_t offset, const char *function,
				const char *file, uint32_t line)
{
	name(module, offset, function, file, line);
	fake.names[fake.nr_names - 1].name.inlined = true;
}

static UNUSED struct gmt_ledger *new_ledger(void)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());

	ledger->apis[API_MALLOC] = (struct gmt_api_names){ "cuMemAlloc_v2", "cudaMalloc" };
	ledger->apis[API_HOST_ALLOC] = (struct gmt_api_names){ "cuMemHostAlloc", "cudaHostAlloc" };
	ledger->process.cuda_used = 1;
	ledger->process.pid = 4711;
	ledger->settings.exitcode = 23;
	ledger->settings.min_leak_bytes = 1;
	ledger->settings.min_leak_blocks = 1;
	ledger->settings.stacks = 1;
	ledger->exe = "/opt/app";
	ledger->version = "0.0.0";
	return ledger;
}

/* Returns the module's id. */
static UNUSED uint32_t module(struct gmt_ledger *ledger, const char *path, uint64_t runtime_lo)
{
	struct gmt_module row = {
		.base = 0x550000000000,
		.bytes = 0x100000,
		.path = path,
		.build_id = { 0xab, 0xcd, 0xef },
		.build_id_bytes = 20,
		.runtime_lo = runtime_lo,
	};

	gmt_ledger_add_module(ledger, &row);
	return ledger->nr_modules;
}

#define END 0xffffffffu

/* Pairs of module and offset, innermost first, then END. Returns the stack's id. */
static UNUSED uint32_t stack(struct gmt_ledger *ledger, ...)
{
	struct gmt_frame frames[GMT_MAX_FRAMES];
	uint32_t count = 0, id;
	va_list arguments;

	va_start(arguments, ledger);
	while ((id = va_arg(arguments, uint32_t)) != END) {
		frames[count].module = id;
		frames[count].reserved = 0;
		frames[count++].offset = va_arg(arguments, unsigned int);
	}
	va_end(arguments);
	gmt_ledger_add_stack(ledger, ledger->nr_stacks + 1, frames, count);
	return ledger->nr_stacks;
}

static UNUSED void allocate_as(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes,
			       uint32_t id, uint64_t time_ns, uint16_t api, uint8_t kind,
			       int32_t device)
{
	struct gmt_event event = {
		.addr = addr,
		.bytes = bytes,
		.time_ns = time_ns,
		.stack = id,
		.api = api,
		.kind = kind,
		.route = GMT_ROUTE_GETPROC,
		.device = device,
	};
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);
}

/* By cudaMalloc on device 0. */
static UNUSED void allocate(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint32_t id,
			    uint64_t time_ns)
{
	allocate_as(ledger, addr, bytes, id, time_ns, API_MALLOC | GMT_API_RUNTIME, GMT_KIND_DEVICE,
		    0);
}

static UNUSED void release(struct gmt_ledger *ledger, uint64_t addr, uint64_t time_ns)
{
	struct gmt_claim claim;

	if (gmt_ledger_free(ledger, addr, time_ns, &claim))
		gmt_ledger_freed(ledger, &claim);
}

static UNUSED void refuse_free(struct gmt_ledger *ledger, uint64_t addr, uint64_t time_ns)
{
	struct gmt_claim claim;

	if (gmt_ledger_free(ledger, addr, time_ns, &claim))
		gmt_ledger_unfree(ledger, &claim, GMT_BLOCK_TEARDOWN);
}

#endif
