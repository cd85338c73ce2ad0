/* The JSON report, schema 1: every key is always there, in the contract's order. */
#include "report/emit.h"
#include "report/json.h"

#include <string.h>

/* 15 digits are what a double holds for sure: no 0.10000000000000001. */
#define FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(15))

#define GMT_SCHEMA 1

static json_t *self(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	json_t *object = json_object();

	gmt_json_put(json, object, "hook_calls", gmt_json_count(ledger->hook_calls));
	gmt_json_put(json, object, "hook_seconds", gmt_json_time(ledger->hook_ns));
	gmt_json_put(json, object, "host_bytes", gmt_json_count(ledger->host_bytes));
	gmt_json_put(json, object, "trace_bytes", gmt_json_count(ledger->trace_bytes));
	return object;
}

static json_t *program(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	json_t *object = json_object();

	gmt_json_put(json, object, "version",
		     gmt_json_text(ledger->version ? ledger->version : "unknown"));
	gmt_json_put(json, object, "schema", json_integer(GMT_SCHEMA));
	return object;
}

static json_t *process(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	static const char *const ended[GMT_NR_ENDED] = { GMT_ENDED_NAMES };
	const struct gmt_process *facts = &ledger->process;
	json_t *object = json_object(), *argv = json_array();

	for (uint32_t i = 0; i < ledger->argc && ledger->argv; i++)
		gmt_json_push(json, argv, gmt_json_text(ledger->argv[i]));
	gmt_json_put(json, object, "pid", json_integer(facts->pid));
	gmt_json_put(json, object, "ppid", json_integer(facts->ppid));
	gmt_json_put(json, object, "exe", gmt_json_text(ledger->exe));
	gmt_json_put(json, object, "argv", argv);
	gmt_json_put(json, object, "host", gmt_json_text(ledger->host));
	gmt_json_put(json, object, "rank",
		     facts->rank < 0 ? json_null() : json_integer(facts->rank));
	gmt_json_put(json, object, "start_unix", gmt_json_time(facts->start_unix_ns));
	gmt_json_put(json, object, "duration", gmt_json_time(facts->end_ns));
	gmt_json_put(json, object, "ended",
		     json_string(facts->ended < GMT_NR_ENDED ? ended[facts->ended] : "exit"));
	gmt_json_put(json, object, "status", json_integer(facts->status));
	return object;
}

static json_t *verdict(struct gmt_json *json, const struct gmt_verdict *facts)
{
	static const char *const status[] = { GMT_VERDICT_NAMES };
	static const char *const gate[] = { GMT_GATE_STATE_NAMES };
	json_t *object = json_object(), *reasons = json_array();

	for (uint32_t i = 0; i < facts->nr_reasons; i++)
		gmt_json_push(json, reasons, gmt_json_text(facts->reasons[i]));
	gmt_json_put(json, object, "status", json_string(status[facts->status]));
	gmt_json_put(json, object, "gate", json_string(gate[facts->gate]));
	gmt_json_put(json, object, "exit_code", json_integer(facts->exit_code));
	gmt_json_put(json, object, "reasons", reasons);
	return object;
}

static json_t *totals(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *object = json_object();

	gmt_json_put(json, object, "allocations", gmt_json_count(report->allocations));
	gmt_json_put(json, object, "frees", gmt_json_count(report->frees));
	gmt_json_put(json, object, "failed_allocations",
		     gmt_json_count(report->ledger->failed_allocations));
	gmt_json_put(json, object, "leaked_bytes", gmt_json_count(report->leaked_bytes));
	gmt_json_put(json, object, "leaked_blocks", gmt_json_count(report->leaked_blocks));
	gmt_json_put(json, object, "suppressed_bytes", json_integer(0));
	gmt_json_put(json, object, "suppressed_blocks", json_integer(0));
	return object;
}

static json_t *kinds(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	json_t *object = json_object();

	for (int i = 0; i < GMT_NR_KINDS; i++) {
		const struct gmt_kind_totals *kind = &ledger->kinds[i];
		json_t *row = json_object();

		gmt_json_put(json, row, "allocations", gmt_json_count(kind->allocations));
		gmt_json_put(json, row, "frees", gmt_json_count(kind->frees));
		gmt_json_put(json, row, "live_bytes", gmt_json_count(kind->live_bytes));
		gmt_json_put(json, row, "live_blocks", gmt_json_count(kind->live_blocks));
		gmt_json_put(json, row, "peak_bytes", gmt_json_count(kind->peak_bytes));
		gmt_json_put(json, object, gmt_kind_names[i], row);
	}
	return object;
}

static json_t *coverage(struct gmt_json *json, const struct gmt_report *report)
{
	static const char *const cupti[GMT_NR_CUPTI] = { GMT_CUPTI_NAMES };
	static const char *const names[GMT_NR_ROUTES] = { "symbol", "dlsym", "getproc", "cupti" };
	const struct gmt_ledger *ledger = report->ledger;
	json_t *object = json_object(), *routes = json_object();
	json_t *passed = json_array(), *notes = json_array();

	for (int i = 0; i < GMT_NR_ROUTES; i++)
		gmt_json_put(json, routes, names[i], gmt_json_count(ledger->routes[i]));
	for (uint32_t i = 0; i < ledger->nr_passed_through; i++)
		gmt_json_push(json, passed, gmt_json_text(ledger->passed_through[i]));
	for (uint32_t i = 0; i < report->nr_notes; i++)
		gmt_json_push(json, notes, gmt_json_text(report->notes[i]));
	gmt_json_put(json, object, "routes", routes);
	gmt_json_put(json, object, "passed_through", passed);
	gmt_json_put(json, object, "dropped_events", gmt_json_count(report->dropped_events));
	gmt_json_put(json, object, "unwind_failures", gmt_json_count(report->unwind_failures));
	gmt_json_put(json, object, "cupti",
		     json_string(ledger->cupti < GMT_NR_CUPTI ? cupti[ledger->cupti] : "off"));
	gmt_json_put(json, object, "notes", notes);
	return object;
}

/* Later work fills it; its keys are there already. */
static json_t *series(struct gmt_json *json)
{
	json_t *object = json_object();

	gmt_json_put(json, object, "time", json_array());
	gmt_json_put(json, object, "device_live", json_object());
	return object;
}

static json_t *document(struct gmt_json *json, const struct gmt_report *report)
{
	json_t *root = json_object();

	gmt_json_put(json, root, "gmtrace", program(json, report->ledger));
	gmt_json_put(json, root, "process", process(json, report->ledger));
	gmt_json_put(json, root, "verdict", verdict(json, &report->verdict));
	gmt_json_put(json, root, "totals", totals(json, report));
	gmt_json_put(json, root, "kinds", kinds(json, report->ledger));
	gmt_json_put(json, root, "devices", gmt_json_devices(json, report));
	gmt_json_put(json, root, "leaks", gmt_json_leaks(json, report));
	gmt_json_put(json, root, "peaks", gmt_json_peaks(json, report));
	gmt_json_put(json, root, "fragmentation", gmt_json_fragmentation(json, report));
	gmt_json_put(json, root, "handles", json_object());
	gmt_json_put(json, root, "errors", json_array());
	gmt_json_put(json, root, "oom", json_array());
	gmt_json_put(json, root, "kernels", gmt_json_kernels(json, report));
	gmt_json_put(json, root, "findings", json_array());
	gmt_json_put(json, root, "sites", gmt_json_sites(json, report));
	gmt_json_put(json, root, "series", series(json));
	gmt_json_put(json, root, "coverage", coverage(json, report));
	gmt_json_put(json, root, "self", self(json, report->ledger));
	return root;
}

static int append(const char *text, size_t bytes, void *data)
{
	struct gmt_buffer *out = data;

	gmt_buffer_add(out, text, bytes);
	return out->failed ? -1 : 0;
}

bool gmt_emit_json(const struct gmt_report *report, struct gmt_buffer *out)
{
	struct gmt_json json = { 0 };
	json_t *root = document(&json, report);
	bool done = root && !json.failed && json_dump_callback(root, append, out, FLAGS) == 0;

	json_decref(root);
	gmt_buffer_add(out, "\n", 1);
	return done && !out->failed;
}
