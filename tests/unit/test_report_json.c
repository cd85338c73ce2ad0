/* The JSON report: its keys in the contract's order, and values that any reader takes. */
#include <jansson.h>
#include <stdlib.h>

#include "report/analysis.h"
#include "report/emit.h"
#include "tests/test.h"
#include "tests/unit/report_fixture.h"

static json_t *json_of(struct gmt_ledger *ledger)
{
	struct gmt_report *report = gmt_analysis_make(ledger, symbolizer());
	struct gmt_buffer buffer = { 0 };
	json_error_t error;
	json_t *root;

	if (!report || !gmt_emit_json(report, &buffer))
		return NULL;
	root = json_loadb(buffer.text, buffer.bytes, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		printf("%s at %d:%d\n", error.text, error.line, error.column);
	gmt_buffer_free(&buffer);
	gmt_analysis_free(report);
	return root;
}

/* Whether the object's keys are these, in this order, separated by blanks. */
static bool keys_are(json_t *object, const char *expected)
{
	char found[1024] = "";
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
			 *found ? " " : "", key);
	if (strcmp(found, expected) != 0)
		printf("%s\n", found);
	return strcmp(found, expected) == 0;
}

static json_t *get(json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static json_t *first(json_t *object, const char *key)
{
	return json_array_get(json_object_get(object, key), 0);
}

static struct gmt_ledger *full_ledger(void)
{
	struct gmt_ledger *ledger = new_ledger();
	uint32_t app = module(ledger, "/opt/app", 0), room = 0, work;
	const struct gmt_device_facts device = { .ordinal = 0,
						 .total_bytes = 1024 * MIB,
						 .uuid = { 0x12, 0x34 } };
	const struct gmt_device_sample sample = {
		.time_ns = 5, .free_bytes = 1000 * MIB, .total_bytes = 1024 * MIB, .valid = 1
	};
	const struct gmt_pool_sample pool = { .handle = 0xabc,
					      .reserved_bytes = 32 * MIB,
					      .valid = 1 };
	uint64_t passed = 0x7f0000000000;
	uint32_t kernel;

	name(app, 0x100, "work", "app.c", 12);
	work = stack(ledger, app, 0x100, app, 0x200, END);
	gmt_ledger_set_device(ledger, &device, "Test GPU");
	allocate(ledger, 0x7f0000000000, 4096, work, 1500000000);
	gmt_ledger_sample_device(ledger, &sample);
	gmt_ledger_sample_pool(ledger, &pool);
	gmt_ledger_push_name(ledger, &ledger->argv, &ledger->argc, &room, "app");
	kernel = gmt_ledger_kernel(ledger, "_Z4axpyPf", 0);
	gmt_ledger_launch(ledger, kernel, 0x40, &passed, 1);
	gmt_ledger_kernel_time(ledger, kernel, 0, 2000, 1);
	return ledger;
}

TEST(json_has_every_key_of_the_schema_in_order)
{
	json_t *root = json_of(full_ledger()), *part;

	CHECK(root);
	CHECK(keys_are(root, "gmtrace process verdict totals kinds devices leaks peaks "
			     "fragmentation handles errors oom kernels findings sites series "
			     "coverage self"));
	CHECK(keys_are(get(root, "gmtrace"), "version schema"));
	CHECK(keys_are(get(root, "process"),
		       "pid ppid exe argv host rank start_unix duration ended status"));
	CHECK(keys_are(get(root, "verdict"), "status gate exit_code reasons"));
	CHECK(keys_are(get(root, "totals"),
		       "allocations frees failed_allocations leaked_bytes leaked_blocks "
		       "suppressed_bytes suppressed_blocks"));
	CHECK(keys_are(get(root, "kinds"),
		       "device managed pinned registered array pool vmm imported graph"));
	CHECK(keys_are(get(get(root, "kinds"), "graph"),
		       "allocations frees live_bytes live_blocks peak_bytes"));
	part = first(root, "devices");
	CHECK(keys_are(part, "ordinal name uuid mig total_bytes live_bytes live_blocks peak_bytes "
			     "peak_time balance"));
	CHECK(keys_are(get(part, "balance"),
		       "time driver_used tracked rounding pinned_pages pool_idle graph_idle "
		       "context other_processes unaccounted"));
	part = first(root, "leaks");
	CHECK(keys_are(part, "bytes blocks kind device api class reachability reachable_from owner "
			     "site sizes first_time last_time stack suppressed_by"));
	CHECK(keys_are(first(part, "sizes"), "size blocks"));
	CHECK(keys_are(first(part, "stack"),
		       "function file line column module offset build_id lang inlined"));
	CHECK(keys_are(first(root, "peaks"), "device bytes time sites"));
	CHECK(keys_are(first(first(root, "peaks"), "sites"), "bytes blocks site stack"));
	part = get(root, "fragmentation");
	CHECK(keys_are(part, "devices pools vmm"));
	CHECK(keys_are(first(part, "devices"),
		       "ordinal small_pages small_pages_bytes small_live_bytes pinned_bytes "
		       "rounding_bytes worst_time worst_pinned_bytes worst_small_pages sites"));
	CHECK(keys_are(first(part, "pools"), "handle device reserved_bytes used_bytes "
					     "reserved_peak used_peak"));
	CHECK(keys_are(get(part, "vmm"), "created released live_bytes mapped_bytes reserved_va"));
	CHECK(keys_are(first(root, "kernels"),
		       "name launches gpu_time bytes_referenced sites device streams"));
	CHECK(keys_are(first(root, "sites"), "site allocations frees live_bytes peak_bytes "
					     "total_bytes lifetime_median stack"));
	CHECK(keys_are(get(root, "coverage"), "routes passed_through dropped_events "
					      "unwind_failures cupti notes"));
	CHECK(keys_are(get(root, "self"), "hook_calls hook_seconds host_bytes trace_bytes"));
	return TEST_PASS;
}

TEST(json_values_have_the_contracts_units)
{
	json_t *root = json_of(full_ledger());
	json_t *leak = first(root, "leaks"), *frame = first(leak, "stack");
	json_t *nameless = json_array_get(get(leak, "stack"), 1), *kernel = first(root, "kernels");

	CHECK(json_real_value(get(leak, "first_time")) == 1.5);
	CHECK(strlen(json_string_value(get(leak, "site"))) == 18);
	CHECK(strcmp(json_string_value(get(leak, "class")), "one_time") == 0);
	CHECK(strcmp(json_string_value(get(leak, "api")), "cudaMalloc") == 0);
	CHECK(strcmp(json_string_value(get(leak, "owner")), "app") == 0);
	CHECK(json_integer_value(get(frame, "line")) == 12);
	CHECK(json_is_null(get(frame, "column")));
	CHECK(json_is_null(get(nameless, "function")));
	CHECK(strcmp(json_string_value(get(nameless, "offset")), "0x0000000000000200") == 0);
	CHECK(strncmp(json_string_value(get(nameless, "build_id")), "abcdef00", 8) == 0);
	CHECK(json_real_value(get(kernel, "gpu_time")) == 2e-6);
	CHECK(strcmp(json_string_value(first(kernel, "streams")), "0x40") == 0);
	CHECK(strcmp(json_string_value(get(first(root, "devices"), "uuid")),
		     "GPU-12340000-0000-0000-0000-000000000000") == 0);
	CHECK(json_is_null(get(get(root, "process"), "rank")));
	CHECK(json_is_null(get(json_array_get(get(root, "peaks"), 1), "device")));
	return TEST_PASS;
}

TEST(json_writes_a_stack_the_same_each_time)
{
	json_t *root = json_of(full_ledger());
	json_t *stack_of_leak = get(first(root, "leaks"), "stack");

	CHECK(json_array_size(stack_of_leak) == 2);
	CHECK(json_equal(stack_of_leak, get(first(root, "sites"), "stack")));
	CHECK(json_equal(stack_of_leak, get(first(first(root, "peaks"), "sites"), "stack")));
	CHECK(json_equal(stack_of_leak, get(first(first(root, "kernels"), "sites"), "stack")));
	return TEST_PASS;
}

TEST(json_replaces_what_is_not_utf8)
{
	struct gmt_ledger *ledger = full_ledger();
	json_t *root;

	ledger->exe = "/a\xff\xe2\x82\"\\\n\033";
	root = json_of(ledger);

	CHECK(root);
	CHECK(strcmp(json_string_value(get(get(root, "process"), "exe")),
		     "/a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\\\n\033") == 0);
	return TEST_PASS;
}

TEST(json_keeps_numbers_in_range)
{
	struct gmt_ledger *ledger = full_ledger();
	json_t *root;

	ledger->kinds[0].peak_bytes = UINT64_MAX;
	root = json_of(ledger);

	CHECK(json_integer_value(get(get(get(root, "kinds"), "device"), "peak_bytes")) ==
	      INT64_MAX);
	return TEST_PASS;
}

TEST(json_of_an_empty_ledger_is_whole)
{
	json_t *root = json_of(gmt_ledger_new(gmt_arena_new()));

	CHECK(root);
	CHECK(json_array_size(get(root, "leaks")) == 0);
	CHECK(strcmp(json_string_value(get(get(root, "verdict"), "status")), "no_cuda") == 0);
	CHECK(json_is_null(get(get(root, "process"), "exe")));
	return TEST_PASS;
}
