/* Which frames a reader sees, which make the site, and what the call is named. */
#include "report/analysis.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"

/* app: work() at 0x100 calls the runtime, main() at 0x200 calls work(); libc starts it. */
static uint32_t program(struct gmt_ledger *ledger, uint64_t runtime_lo)
{
	uint32_t app = module(ledger, "/opt/app", runtime_lo);

	name(app, 0x100, "work", "app.c", 10);
	name(app, 0x200, "main", "app.c", 20);
	name(app, 0x300, "_start", NULL, 0);
	return app;
}

static const struct gmt_report_leak *only_leak(struct gmt_ledger *ledger, bool with_names)
{
	struct gmt_report *report = gmt_analysis_make(ledger, with_names ? symbolizer() : NULL);

	return report && report->nr_leaks == 1 ? &report->leaks[0] : NULL;
}

static const struct gmt_report_leak *leak_of(struct gmt_ledger *ledger, uint32_t id,
					     bool with_names)
{
	allocate(ledger, 0x7f0000000000, 4096, id, 1);
	return only_leak(ledger, with_names);
}

static const struct gmt_report_leak *shared_leak(void)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = program(ledger, 0);
	uint32_t runtime = module(ledger, "/usr/lib/libcudart.so.13", 0);
	uint32_t libc = module(ledger, "/lib/x86_64-linux-gnu/libc.so.6", 0);

	name(runtime, 0x900, "cudaMalloc", NULL, 0);
	name(libc, 0x29d90, "__libc_start_call_main", NULL, 0);
	return leak_of(ledger,
		       stack(ledger, runtime, 0x800, runtime, 0x900, app, 0x100, app, 0x200, libc,
			     0x29d90, libc, 0x29e40, app, 0x300, END),
		       true);
}

TEST(stacks_leave_out_runtime_and_start)
{
	const struct gmt_report_leak *leak = shared_leak();

	CHECK(leak);
	CHECK(leak->stack->nr_frames == 2);
	CHECK(strcmp(leak->stack->frames[0].function, "work") == 0);
	CHECK(strcmp(leak->stack->frames[0].file, "app.c") == 0);
	CHECK(leak->stack->frames[0].line == 10);
	CHECK(strcmp(leak->stack->frames[1].function, "main") == 0);
	CHECK(leak->stack->user == 0);
	CHECK(strcmp(leak->api, "cudaMalloc") == 0);
	CHECK(strcmp(leak->owner, "app") == 0);
	return TEST_PASS;
}

TEST(stacks_are_one_site_for_static_and_shared_runtime)
{
	const struct gmt_report_leak *shared = shared_leak();
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app, libc;
	const struct gmt_report_leak *linked_in;

	fake.nr_names = 0;
	app = program(ledger, 0x5000);
	libc = module(ledger, "/lib/x86_64-linux-gnu/libc.so.6", 0);
	name(app, 0x6000, "libcudart_static_955d0e8549", NULL, 0);
	name(app, 0x6400, "cudaMalloc", NULL, 0);
	linked_in = leak_of(ledger,
			    stack(ledger, app, 0x6000, app, 0x6400, app, 0x100, app, 0x200, libc,
				  0x29d90, libc, 0x29e40, app, 0x300, END),
			    true);

	CHECK(shared && linked_in);
	CHECK(linked_in->stack->site == shared->stack->site);
	CHECK(linked_in->stack->nr_frames == shared->stack->nr_frames);
	CHECK(strcmp(linked_in->api, shared->api) == 0);
	return TEST_PASS;
}

TEST(stacks_of_a_stripped_program_find_its_static_runtime)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0x5800);
	uint32_t libc = module(ledger, "/lib/x86_64-linux-gnu/libc.so.6", 0);
	const struct gmt_report_leak *leak;

	/* 0x5000 is below runtime_lo, but the innermost frame of a runtime's call. */
	leak = leak_of(ledger,
		       stack(ledger, app, 0x5000, app, 0x5400, app, 0x60000, app, 0x100, app, 0x200,
			     libc, 0x29d90, app, 0x300, END),
		       false);

	CHECK(leak);
	CHECK(leak->stack->nr_frames == 2);
	CHECK(leak->stack->frames[0].offset == 0x100 && !leak->stack->frames[0].function);
	CHECK(leak->stack->frames[1].offset == 0x200);
	CHECK(strcmp(leak->api, "cudaMalloc") == 0);
	return TEST_PASS;
}

TEST(stacks_know_the_runtimes_frames_between_two_others)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0x40000);
	const struct gmt_report_leak *leak;

	/* As cudart 13.0 lies: cudaMalloc at 0x4cb70 calls 0xf070, and that 0x3da50. */
	leak = leak_of(ledger,
		       stack(ledger, app, 0x3db00, app, 0xf0d3, app, 0x4ccf7, app, 0x902d, app,
			     0x8f22, END),
		       false);

	CHECK(leak && leak->stack->nr_frames == 2);
	CHECK(leak->stack->frames[0].offset == 0x902d);
	return TEST_PASS;
}

TEST(stacks_put_the_users_frame_before_those_of_library_headers)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0);
	const struct gmt_report_leak *leak;

	inlined_name(app, 0x100, "thrust::make", "/usr/local/cuda/include/thrust/a.h", 1);
	name(app, 0x100, "thrust::vector", "/opt/cuda/include/thrust/b.h", 2);
	name(app, 0x200, "work", "app.cu", 10);
	leak = leak_of(ledger, stack(ledger, app, 0x100, app, 0x200, END), true);

	CHECK(leak && leak->stack->nr_frames == 3 && leak->stack->user == 2);
	return TEST_PASS;
}

TEST(stacks_do_not_take_frames_far_from_the_runtime_for_its)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0x5000);
	const struct gmt_report_leak *leak =
		leak_of(ledger, stack(ledger, app, 0x5000, app, 0x5000 + 512 * 1024, END), false);

	CHECK(leak && leak->stack->nr_frames == 1);
	CHECK(leak->stack->frames[0].offset == 0x5000 + 512 * 1024);
	return TEST_PASS;
}

TEST(stacks_keep_their_site_when_code_moves)
{
	uint64_t sites[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct gmt_ledger *ledger = new_ledger();
		uint32_t app = module(ledger, i ? "/elsewhere/app" : "/opt/app", 0);
		const struct gmt_report_leak *leak;

		fake.nr_names = 0;
		ledger->modules[0]->base += i * 0x1000000;
		ledger->modules[0]->build_id[5] = (uint8_t)i;
		name(app, 0x100 + i * 0x40, i ? "work.isra.0" : "work", "app.c", 10 + i);
		name(app, 0x200 + i * 0x80, i ? "main.cold" : "main", "app.c", 20 + i);
		leak = leak_of(ledger,
			       stack(ledger, app, 0x100 + i * 0x40, app, 0x200 + i * 0x80, END),
			       true);
		CHECK(leak);
		sites[i] = leak->stack->site;
	}
	CHECK(sites[0] == sites[1]);
	return TEST_PASS;
}

TEST(stacks_tell_nameless_frames_apart_by_build_and_offset)
{
	uint64_t sites[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct gmt_ledger *ledger = new_ledger();
		uint32_t app = module(ledger, "/opt/app", 0);
		const struct gmt_report_leak *leak;

		ledger->modules[0]->build_id[5] = i == 1;
		leak = leak_of(ledger, stack(ledger, app, i == 2 ? 0x180 : 0x100, END), true);
		CHECK(leak);
		sites[i] = leak->stack->site;
	}
	CHECK(sites[0] != sites[1] && sites[0] != sites[2] && sites[1] != sites[2]);
	return TEST_PASS;
}

TEST(stacks_hash_physical_functions_only)
{
	uint64_t sites[2];

	for (int i = 0; i < 2; i++) {
		struct gmt_ledger *ledger = new_ledger();
		uint32_t app;
		const struct gmt_report_leak *leak;

		fake.nr_names = 0;
		app = module(ledger, "/opt/app", 0);
		if (i)
			inlined_name(app, 0x100, "helper", "app.h", 3);
		name(app, 0x100, "work", "app.c", 10);
		leak = leak_of(ledger, stack(ledger, app, 0x100, END), true);
		CHECK(leak && leak->stack->nr_frames == (uint32_t)i + 1);
		sites[i] = leak->stack->site;
	}
	CHECK(sites[0] == sites[1]);
	return TEST_PASS;
}

TEST(stacks_fold_the_runtimes_templates_into_the_call)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t runtime = module(ledger, "/usr/lib/libcudart.so.13", 0);
	uint32_t app = module(ledger, "/opt/app", 0);
	const struct gmt_report_leak *leak;

	name(runtime, 0x900, "cudaMallocFromPoolAsync_ptsz", NULL, 0);
	inlined_name(app, 0x100, "_Z15cudaMallocAsyncIfE9cudaErrorPPT_mP11CUstream_st", "rt.h", 1);
	name(app, 0x100, "_Z4workv", "app.cu", 10);
	leak = leak_of(ledger, stack(ledger, runtime, 0x900, app, 0x100, END), true);

	CHECK(leak && leak->stack->nr_frames == 1);
	CHECK(strcmp(leak->stack->frames[0].function, "_Z4workv") == 0);
	CHECK(strcmp(leak->api, "cudaMallocAsync") == 0);
	return TEST_PASS;
}

TEST(stacks_keep_functions_of_the_user_that_only_sound_like_the_runtime)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t runtime = module(ledger, "/usr/lib/libcudart.so.13", 0);
	uint32_t app = module(ledger, "/opt/app", 0);
	const struct gmt_report_leak *leak;

	name(runtime, 0x900, "cudaMalloc", NULL, 0);
	name(app, 0x100, "cudaMallocOrDie", "app.c", 10);
	name(app, 0x200, "_Z15cudaCheckedCopyIfEvPT_", "app.c", 20);
	leak = leak_of(ledger, stack(ledger, runtime, 0x900, app, 0x100, app, 0x200, END), true);

	CHECK(leak && leak->stack->nr_frames == 2);
	CHECK(strcmp(leak->api, "cudaMalloc") == 0);
	return TEST_PASS;
}

TEST(stacks_name_the_drivers_entry_when_no_runtime_called_it)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = program(ledger, 0);
	uint32_t id = stack(ledger, app, 0x100, app, 0x200, END);
	const struct gmt_report_leak *leak;

	allocate_as(ledger, 0x7f0000000000, 64, id, 1, API_MALLOC, GMT_KIND_DEVICE, 0);
	leak = only_leak(ledger, true);

	CHECK(leak && strcmp(leak->api, "cuMemAlloc_v2") == 0);
	return TEST_PASS;
}

TEST(stacks_name_the_usual_call_where_the_runtime_has_no_names)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t runtime = module(ledger, "/usr/lib/libcudart.so.13", 0);
	const struct gmt_report_leak *leak;

	allocate_as(ledger, 0x7f0000000000, 64, stack(ledger, runtime, 0x900, END), 1,
		    API_HOST_ALLOC | GMT_API_RUNTIME, GMT_KIND_PINNED, GMT_NO_DEVICE);
	leak = only_leak(ledger, false);

	CHECK(leak && strcmp(leak->api, "cudaHostAlloc") == 0);
	return TEST_PASS;
}

TEST(stacks_fold_the_insides_of_a_vendors_library)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t blas = module(ledger, "/usr/lib/libcublas.so.13", 0x8000);
	uint32_t app = program(ledger, 0);
	const struct gmt_report_leak *leak;

	name(blas, 0x700, "cublasCreate_v2", NULL, 0);
	leak = leak_of(ledger,
		       stack(ledger, blas, 0x8100, blas, 0x500, blas, 0x600, blas, 0x700, app,
			     0x100, app, 0x200, END),
		       true);

	CHECK(leak && leak->stack->nr_frames == 3);
	CHECK(leak->stack->frames[0].vendor && leak->stack->frames[0].folded == 3);
	CHECK(strcmp(leak->stack->frames[0].function, "cublasCreate_v2") == 0);
	CHECK(leak->stack->user == 1);
	CHECK(strcmp(leak->owner, "app") == 0);
	CHECK(strcmp(leak->api, "cudaMalloc") == 0);
	return TEST_PASS;
}

TEST(stacks_of_a_vendors_library_keep_their_site_when_its_insides_change)
{
	uint64_t sites[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct gmt_ledger *ledger = new_ledger();
		uint32_t blas = module(ledger, "/usr/lib/libcublas.so.13", 0);
		uint32_t app;
		const struct gmt_report_leak *leak;

		fake.nr_names = 0;
		app = program(ledger, 0);
		name(blas, 0x700, "cublasCreate_v2", NULL, 0);
		leak = leak_of(ledger,
			       stack(ledger, blas, 0x500 + i * 0x10, blas, 0x700, app, 0x100, END),
			       true);
		CHECK(leak);
		sites[i] = leak->stack->site;
	}
	CHECK(sites[0] == sites[1]);
	return TEST_PASS;
}

TEST(stacks_keep_libc_between_frames_of_the_user)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = program(ledger, 0);
	uint32_t libc = module(ledger, "/lib/x86_64-linux-gnu/libc.so.6", 0);
	const struct gmt_report_leak *leak;

	name(libc, 0x4000, "qsort", NULL, 0);
	leak = leak_of(ledger,
		       stack(ledger, app, 0x100, libc, 0x4000, app, 0x200, libc, 0x29d90, END),
		       true);

	CHECK(leak && leak->stack->nr_frames == 3);
	CHECK(strcmp(leak->stack->frames[1].function, "qsort") == 0);
	return TEST_PASS;
}

TEST(stacks_survive_generated_code_and_missing_ids)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = program(ledger, 0);
	struct gmt_report *report;

	allocate(ledger, 0x7f0000000000, 64, stack(ledger, 0, 0x1234, app, 0x100, END), 1);
	allocate(ledger, 0x7f0000001000, 32, 0, 2);
	allocate(ledger, 0x7f0000002000, 16, 999, 3);
	report = gmt_analysis_make(ledger, symbolizer());

	CHECK(report && report->nr_leaks == 2);
	CHECK(report->leaks[0].stack->nr_frames == 2 && !report->leaks[0].stack->frames[0].module);
	CHECK(report->leaks[1].blocks == 2 && report->leaks[1].stack->nr_frames == 0);
	CHECK(!report->leaks[1].owner);
	return TEST_PASS;
}
