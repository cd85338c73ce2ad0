/* The JSON report, schema 1: every key is always there, in the contract's order. */
#include "report/emit.h"
#include "report/json.h"

#define SCHEMA 1

static void put_gmtrace(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	gmt_json_open(json, "gmtrace", '{');
	gmt_json_put(json, "version", gmt_json_text(ledger->version ? ledger->version : "unknown"));
	gmt_json_put(json, "schema", json_integer(SCHEMA));
	gmt_json_close(json, '}');
}

static void put_texts(struct gmt_json *json, const char *key, const char *const *texts,
		      uint32_t count)
{
	gmt_json_open(json, key, '[');
	for (uint32_t i = 0; i < count && texts; i++)
		gmt_json_put(json, NULL, gmt_json_text(texts[i]));
	gmt_json_close(json, ']');
}

static void put_process(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	static const char *const ended[GMT_NR_ENDED] = { GMT_ENDED_NAMES };
	const struct gmt_process *facts = &ledger->process;

	gmt_json_open(json, "process", '{');
	gmt_json_put(json, "pid", json_integer(facts->pid));
	gmt_json_put(json, "ppid", json_integer(facts->ppid));
	gmt_json_put(json, "exe", gmt_json_text(ledger->exe));
	put_texts(json, "argv", ledger->argv, ledger->argc);
	gmt_json_put(json, "host", gmt_json_text(ledger->host));
	gmt_json_put(json, "rank", facts->rank < 0 ? json_null() : json_integer(facts->rank));
	gmt_json_put(json, "start_unix", gmt_json_time(facts->start_unix_ns));
	gmt_json_put(json, "duration", gmt_json_time(facts->end_ns));
	gmt_json_put(json, "ended",
		     json_string(facts->ended < GMT_NR_ENDED ? ended[facts->ended] : "exit"));
	gmt_json_put(json, "status", json_integer(facts->status));
	gmt_json_close(json, '}');
}

static void put_verdict(struct gmt_json *json, const struct gmt_verdict *facts)
{
	static const char *const status[] = { GMT_VERDICT_NAMES };
	static const char *const gate[] = { GMT_GATE_STATE_NAMES };

	gmt_json_open(json, "verdict", '{');
	gmt_json_put(json, "status", json_string(status[facts->status]));
	gmt_json_put(json, "gate", json_string(gate[facts->gate]));
	gmt_json_put(json, "exit_code", json_integer(facts->exit_code));
	gmt_json_open(json, "reasons", '[');
	for (uint32_t i = 0; i < facts->nr_reasons; i++)
		gmt_json_put(json, NULL, gmt_json_text(facts->reasons[i]));
	gmt_json_close(json, ']');
	gmt_json_close(json, '}');
}

static void put_totals(struct gmt_json *json, const struct gmt_report *report)
{
	gmt_json_open(json, "totals", '{');
	gmt_json_put(json, "allocations", gmt_json_count(report->allocations));
	gmt_json_put(json, "frees", gmt_json_count(report->frees));
	gmt_json_put(json, "failed_allocations",
		     gmt_json_count(report->ledger->failed_allocations));
	gmt_json_put(json, "leaked_bytes", gmt_json_count(report->leaked_bytes));
	gmt_json_put(json, "leaked_blocks", gmt_json_count(report->leaked_blocks));
	gmt_json_put(json, "suppressed_bytes", json_integer(0));
	gmt_json_put(json, "suppressed_blocks", json_integer(0));
	gmt_json_close(json, '}');
}

static void put_kinds(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	gmt_json_open(json, "kinds", '{');
	for (int i = 0; i < GMT_NR_KINDS; i++) {
		const struct gmt_kind_totals *kind = &ledger->kinds[i];

		gmt_json_open(json, gmt_kind_names[i], '{');
		gmt_json_put(json, "allocations", gmt_json_count(kind->allocations));
		gmt_json_put(json, "frees", gmt_json_count(kind->frees));
		gmt_json_put(json, "live_bytes", gmt_json_count(kind->live_bytes));
		gmt_json_put(json, "live_blocks", gmt_json_count(kind->live_blocks));
		gmt_json_put(json, "peak_bytes", gmt_json_count(kind->peak_bytes));
		gmt_json_close(json, '}');
	}
	gmt_json_close(json, '}');
}

/* Later work fills these in; their keys are there already. */
static void put_empty(struct gmt_json *json, const char *key, char open, char close)
{
	gmt_json_open(json, key, open);
	gmt_json_close(json, close);
}

static void put_series(struct gmt_json *json)
{
	gmt_json_open(json, "series", '{');
	put_empty(json, "time", '[', ']');
	put_empty(json, "device_live", '{', '}');
	gmt_json_close(json, '}');
}

static void put_coverage(struct gmt_json *json, const struct gmt_report *report)
{
	static const char *const cupti[GMT_NR_CUPTI] = { GMT_CUPTI_NAMES };
	static const char *const names[GMT_NR_ROUTES] = { "symbol", "dlsym", "getproc", "cupti" };
	const struct gmt_ledger *ledger = report->ledger;

	gmt_json_open(json, "coverage", '{');
	gmt_json_open(json, "routes", '{');
	for (int i = 0; i < GMT_NR_ROUTES; i++)
		gmt_json_put(json, names[i], gmt_json_count(ledger->routes[i]));
	gmt_json_close(json, '}');
	put_texts(json, "passed_through", ledger->passed_through, ledger->nr_passed_through);
	gmt_json_put(json, "dropped_events", gmt_json_count(report->dropped_events));
	gmt_json_put(json, "unwind_failures", gmt_json_count(report->unwind_failures));
	gmt_json_put(json, "cupti",
		     json_string(ledger->cupti < GMT_NR_CUPTI ? cupti[ledger->cupti] : "off"));
	put_texts(json, "notes", (const char *const *)report->notes, report->nr_notes);
	gmt_json_close(json, '}');
}

static void put_self(struct gmt_json *json, const struct gmt_ledger *ledger)
{
	gmt_json_open(json, "self", '{');
	gmt_json_put(json, "hook_calls", gmt_json_count(ledger->hook_calls));
	gmt_json_put(json, "hook_seconds", gmt_json_time(ledger->hook_ns));
	gmt_json_put(json, "host_bytes", gmt_json_count(ledger->host_bytes));
	gmt_json_put(json, "trace_bytes", gmt_json_count(ledger->trace_bytes));
	gmt_json_close(json, '}');
}

bool gmt_emit_json(const struct gmt_report *report, struct gmt_buffer *out)
{
	struct gmt_json json = { .out = out, .first = true };

	gmt_json_open(&json, NULL, '{');
	put_gmtrace(&json, report->ledger);
	put_process(&json, report->ledger);
	put_verdict(&json, &report->verdict);
	put_totals(&json, report);
	put_kinds(&json, report->ledger);
	gmt_json_devices(&json, report);
	gmt_json_leaks(&json, report);
	gmt_json_peaks(&json, report);
	gmt_json_fragmentation(&json, report);
	put_empty(&json, "handles", '{', '}');
	gmt_json_errors(&json, report);
	put_empty(&json, "oom", '[', ']');
	gmt_json_kernels(&json, report);
	put_empty(&json, "findings", '[', ']');
	gmt_json_sites(&json, report);
	put_series(&json);
	put_coverage(&json, report);
	put_self(&json, report->ledger);
	gmt_json_close(&json, '}');
	gmt_buffer_add(out, "\n", 1);
	return !out->failed;
}
