#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/arena.h"
#include "preload/ledger.h"
#include "preload/ledger_vmm.h"
#include "preload/snapshot.h"
#include "preload/trace.h"
#include "report/read_trace.h"
#include "tests/test.h"

static void allocate(struct gmt_ledger *ledger, uint64_t addr, uint64_t bytes, uint32_t stack,
		     enum gmt_kind kind)
{
	struct gmt_event event = {
		.addr = addr,
		.bytes = bytes,
		.time_ns = addr & 0xffff,
		.stack = stack,
		.kind = (uint8_t)kind,
		.pool = 77,
		.route = GMT_ROUTE_GETPROC,
	};
	bool replaced;

	gmt_ledger_alloc(ledger, &event, &replaced);
}

/* One handle that is mapped twice and released, one that was only created. */
static void add_handles(struct gmt_ledger *ledger)
{
	struct gmt_event event = { .addr = 7, .bytes = 4096, .stack = 1, .kind = GMT_KIND_VMM };
	struct gmt_vmm_claim claim;

	gmt_ledger_handle_created(ledger, &event);
	gmt_ledger_map(ledger, 0x30000000, 4096, 0, 7, 1);
	gmt_ledger_map(ledger, 0x40000000, 4096, 0, 7, 2);
	gmt_ledger_release(ledger, 7, 3, &claim);
	gmt_ledger_vmm_done(ledger, &claim);
	event.addr = 8;
	gmt_ledger_handle_created(ledger, &event);
	gmt_ledger_reserve(ledger, 0x30000000, 1 << 30);
}

/* A ledger with a row of every sort. */
static struct gmt_ledger *sample_ledger(void)
{
	struct gmt_ledger *ledger = gmt_ledger_new(gmt_arena_new());
	struct gmt_module module = { .base = 0x1000, .bytes = 0x2000, .path = "/bin/app" };
	struct gmt_frame frames[2] = { { .offset = 0x1234, .module = 1 }, { .offset = 0x99 } };
	struct gmt_device_facts facts = { .ordinal = 0, .total_bytes = 1 << 30 };
	struct gmt_pool_sample pool = { .pool = 77, .handle = 5, .reserved_bytes = 32 << 20 };
	uint64_t words[] = { 0x10000008 };
	uint32_t room = 0;

	gmt_ledger_add_module(ledger, &module);
	gmt_ledger_add_stack(ledger, 1, frames, 2);
	gmt_ledger_set_device(ledger, &facts, "Sim");
	allocate(ledger, 0x10000000, 4096, 1, GMT_KIND_DEVICE);
	allocate(ledger, 0x20000000, 100, 0, GMT_KIND_POOL);
	gmt_ledger_sample_pool(ledger, &pool);
	add_handles(ledger);
	gmt_ledger_launch(ledger, gmt_ledger_kernel(ledger, "_Z1kPi", 0), 9, words, 1);
	gmt_ledger_error(ledger, &(struct gmt_error){ .address = 0x77, .stack = 1, .api = 3 })
		->count = 2;
	gmt_ledger_note(ledger, "a note");
	gmt_ledger_push_name(ledger, &ledger->argv, &ledger->argc, &room, "app");
	ledger->exe = "/bin/app";
	ledger->report_path = "stderr";
	ledger->apis[3] = (struct gmt_api_names){ "cuMemAlloc_v2", "cudaMalloc" };
	ledger->counters[0].name = "dropped_events";
	ledger->counters[0].text = "lost";
	ledger->counters[0].value = 4;
	return ledger;
}

static int written(const struct gmt_ledger *ledger)
{
	int fd = memfd_create("trace", 0);

	return gmt_snapshot_write(ledger, fd) ? fd : -1;
}

TEST(trace_gives_back_the_ledger_that_was_written)
{
	char error[256] = "";
	struct gmt_ledger *read =
		gmt_trace_read(written(sample_ledger()), gmt_arena_new(), error, sizeof(error));

	CHECK(read);
	CHECK(read->nr_sites == 3 && read->sites[0]->live_bytes == 4096);
	CHECK(gmt_ledger_share(read, read->sites[0], GMT_MOMENT_DEVICE_PEAK).bytes == 4096);
	CHECK(read->nr_stacks == 1 && read->stacks[0]->frames[0].offset == 0x1234);
	CHECK(strcmp(read->modules[0]->path, "/bin/app") == 0);
	CHECK(strcmp(read->devices[0].name, "Sim") == 0);
	CHECK(read->pools->pool == 77 && read->pools->used_bytes == 100);
	CHECK(read->kernels->launches == 1 && read->kernels->sites->bytes == 4096);
	CHECK(read->nr_errors == 1 && read->errors->count == 2 && read->errors->address == 0x77);
	CHECK(strcmp(read->notes->text, "a note") == 0);
	CHECK(read->argc == 1 && strcmp(read->argv[0], "app") == 0 && !read->argv[1]);
	CHECK(strcmp(read->apis[3].runtime, "cudaMalloc") == 0);
	CHECK(read->counters[0].value == 4 && !read->counters[1].name);
	CHECK(read->routes[GMT_ROUTE_GETPROC] == 2);
	return TEST_PASS;
}

static bool note_handle(const struct gmt_block_view *block, void *data)
{
	struct gmt_block_view *views = data;

	if (block->handle.state)
		views[block->addr & 1] = *block;
	return true;
}

TEST(trace_gives_back_handles_of_physical_memory)
{
	char error[256] = "";
	struct gmt_ledger *read =
		gmt_trace_read(written(sample_ledger()), gmt_arena_new(), error, sizeof(error));
	struct gmt_block_view views[2] = { { 0 }, { 0 } };

	gmt_ledger_each_block(read, note_handle, views);

	CHECK(views[1].addr == 7 && views[1].bytes == 4096 && views[1].site->id == 3);
	CHECK(views[1].handle.state == GMT_HANDLE_RELEASED_MAPPED && views[1].handle.mappings == 2);
	CHECK(views[0].addr == 8 && views[0].handle.state == GMT_HANDLE_UNRELEASED_UNMAPPED);
	CHECK(read->vmm.mappings == 2 && read->vmm.mapped_bytes == 8192);
	CHECK(read->vmm.reservations == 1 && read->vmm.reserved_bytes == 1 << 30);
	CHECK(read->kinds[GMT_KIND_VMM].live_bytes == 8192);
	return TEST_PASS;
}

/* Replaces the first handle's row, and says what the reader makes of it. */
static bool reads_handle(const struct gmt_trace_handle *wrong)
{
	char error[256], *map;
	int fd = written(sample_ledger());
	off_t bytes = lseek(fd, 0, SEEK_END);
	struct gmt_arena *arena = gmt_arena_new();
	struct gmt_ledger *read;
	struct gmt_trace_record record;

	map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t at = sizeof(struct gmt_trace_header);; at += record.bytes) {
		memcpy(&record, map + at, sizeof(record));
		if (record.type != GMT_TRACE_HANDLE)
			continue;
		memcpy(map + at + sizeof(record), wrong, sizeof(*wrong));
		break;
	}
	read = gmt_trace_read(fd, arena, error, sizeof(error));
	gmt_arena_destroy(arena);
	munmap(map, (size_t)bytes);
	close(fd);
	return read != NULL;
}

TEST(trace_with_a_handle_that_cannot_be_is_refused)
{
	struct gmt_trace_handle row = { .value = 7, .bytes = 1, .site = 3, .references = 1 };

	CHECK(reads_handle(&row));
	row.references = 0;
	CHECK(!reads_handle(&row)); /* dead */
	row.mappings = 1;
	CHECK(reads_handle(&row));
	row.site = 1;
	CHECK(!reads_handle(&row)); /* a site of another kind */
	row.site = 99;
	CHECK(!reads_handle(&row));
	row.site = 3;
	row.state = GMT_BLOCK_RESET;
	CHECK(!reads_handle(&row));
	row.state = UINT32_MAX;
	CHECK(!reads_handle(&row));
	return TEST_PASS;
}

/* The same bytes again: nothing is lost or reordered on the way. */
TEST(trace_written_again_is_the_same)
{
	char error[256], *first, *second;
	int fd = written(sample_ledger()), again;
	off_t bytes = lseek(fd, 0, SEEK_END);

	again = written(gmt_trace_read(fd, gmt_arena_new(), error, sizeof(error)));
	CHECK(lseek(again, 0, SEEK_END) == bytes);
	first = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
	second = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, again, 0);

	CHECK(memcmp(first, second, (size_t)bytes) == 0);
	return TEST_PASS;
}

TEST(trace_that_ends_anywhere_is_an_error_or_a_note_but_no_crash)
{
	char error[256];
	int fd = written(sample_ledger());
	off_t bytes = lseek(fd, 0, SEEK_END);

	for (off_t cut = bytes - 1; cut >= 0; cut--) {
		struct gmt_arena *arena = gmt_arena_new();
		struct gmt_ledger *ledger;

		CHECK(ftruncate(fd, cut) == 0);
		ledger = gmt_trace_read(fd, arena, error, sizeof(error));
		CHECK(ledger ? ledger->notes != NULL : error[0] != '\0');
		gmt_arena_destroy(arena);
	}
	return TEST_PASS;
}

TEST(trace_with_any_byte_changed_is_read_or_refused_but_no_crash)
{
	char error[256];
	int fd = written(sample_ledger());
	off_t bytes = lseek(fd, 0, SEEK_END);
	static const unsigned char values[] = { 0x00, 0xff, 0x80, 0x01 };

	for (off_t at = 0; at < bytes; at++) {
		unsigned char old;

		CHECK(pread(fd, &old, 1, at) == 1);
		for (size_t i = 0; i < sizeof(values); i++) {
			struct gmt_arena *arena = gmt_arena_new();

			CHECK(pwrite(fd, &values[i], 1, at) == 1);
			gmt_trace_read(fd, arena, error, sizeof(error));
			gmt_arena_destroy(arena);
		}
		CHECK(pwrite(fd, &old, 1, at) == 1);
	}
	return TEST_PASS;
}

TEST(trace_error_names_the_offset)
{
	char error[256] = "";
	int fd = written(sample_ledger());
	struct gmt_trace_record record = { .type = GMT_TRACE_BLOCK, .bytes = 12 };

	CHECK(pwrite(fd, &record, sizeof(record), sizeof(struct gmt_trace_header)) ==
	      sizeof(record));

	CHECK(!gmt_trace_read(fd, gmt_arena_new(), error, sizeof(error)));
	CHECK(strstr(error, "at offset 24"));
	return TEST_PASS;
}

TEST(trace_that_is_none_is_said_so)
{
	char error[256] = "";
	int fd = memfd_create("other", 0);

	CHECK(write(fd, "#!/bin/sh\necho hello, world\n", 28) == 28);
	CHECK(!gmt_trace_read(fd, gmt_arena_new(), error, sizeof(error)));
	CHECK(strstr(error, "not a gmtrace trace"));
	return TEST_PASS;
}
