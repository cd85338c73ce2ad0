/* Owns the end: builds the report whole, then writes it, so that it is complete or not there. */
#define _GNU_SOURCE
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/analysis.h"
#include "report/buffer.h"
#include "report/emit.h"
#include "report/gate.h"
#include "report/output.h"

#define PATH_ROOM 4352 /* of a path with its suffix */

/* All that will be written. */
struct papers {
	struct gmt_report *report;
	struct gmt_buffer text, summary, json;
};

/* One line on standard error, of up to three parts. */
static void say(const char *first, const char *path, const char *last)
{
	struct gmt_buffer line = { 0 };

	gmt_buffer_format(&line, "gmtrace: %s", first);
	gmt_buffer_escape(&line, path);
	gmt_buffer_escape(&line, last);
	gmt_buffer_add(&line, "\n", 1);
	if (!line.failed)
		gmt_output_write(STDERR_FILENO, line.text, line.bytes);
	gmt_buffer_free(&line);
}

static bool color_wanted(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(fd) && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;
}

static bool same(const char *path, const char *word)
{
	return strcmp(path, word) == 0;
}

static bool draw_up(const struct gmt_ledger *ledger, struct gmt_symbolizer *symbolizer, bool color,
		    bool json, struct papers *papers)
{
	papers->report = gmt_analysis_make(ledger, symbolizer);
	return papers->report && gmt_emit_text(papers->report, color, &papers->text) &&
	       gmt_emit_summary(papers->report, &papers->summary) &&
	       (!json || gmt_emit_json(papers->report, &papers->json));
}

static void drop(struct papers *papers)
{
	gmt_analysis_free(papers->report);
	gmt_buffer_free(&papers->text);
	gmt_buffer_free(&papers->summary);
	gmt_buffer_free(&papers->json);
}

/* False: it could not be written, and standard error has said so. */
static bool write_file(const char *path, int pid, const struct gmt_buffer *paper)
{
	char taken[PATH_ROOM];

	/* Not a file to be made: the usual way to throw something away. */
	if (same(path, "/dev/null"))
		return true;
	if (!gmt_output_file(path, pid, paper->text, paper->bytes, taken, sizeof(taken))) {
		const char *reason = strerrordesc_np(errno);
		struct gmt_buffer why = { 0 };

		gmt_buffer_format(&why, ": %s", reason ? reason : "unknown error");
		gmt_buffer_add(&why, "", 1);
		say("cannot write ", path, why.failed ? "" : why.text);
		gmt_buffer_free(&why);
		return false;
	}
	if (!same(taken, path))
		say("file exists, so the report is in ", taken, "");
	return true;
}

static void write_stderr(const struct gmt_buffer *paper)
{
	/* There is no other place to complain about it. */
	gmt_output_write(STDERR_FILENO, paper->text, paper->bytes);
}

static void write_json(const struct papers *papers, const char *path, int pid)
{
	if (!path || same(path, "none"))
		return;
	if (same(path, "stderr") || same(path, "/dev/stderr"))
		write_stderr(&papers->json);
	else
		write_file(path, pid, &papers->json);
}

/* The summary is the last line of the text, and of standard error wherever the text goes. */
static void write_text(struct papers *papers, const char *path, int pid)
{
	if (same(path, "none"))
		return;
	gmt_buffer_add(&papers->text, papers->summary.text, papers->summary.bytes);
	if (same(path, "stderr") || same(path, "/dev/stderr") ||
	    !write_file(path, pid, &papers->text))
		write_stderr(&papers->text);
	else
		write_stderr(&papers->summary);
}

/* Without a report there is no pass: a run that asked for a gate was not judged. */
static int32_t blind_exit_code(const struct gmt_settings *settings)
{
	bool armed =
		settings->fail_on || settings->require_cuda || settings->max_peak != UINT64_MAX;

	return armed ? GMT_EXIT_NOT_JUDGED : 0;
}

bool gmt_report_finish(const struct gmt_ledger *ledger, struct gmt_symbolizer *symbolizer,
		       void (*before_output)(void *data), void *data, struct gmt_outcome *outcome)
{
	const char *path = ledger->report_path ? ledger->report_path : "stderr";
	bool color = same(path, "stderr") && color_wanted(STDERR_FILENO);
	struct papers papers = { 0 };
	bool made = draw_up(ledger, symbolizer, color, ledger->json_path, &papers);

	outcome->exit_code =
		made ? papers.report->verdict.exit_code : blind_exit_code(&ledger->settings);
	if (before_output)
		before_output(data);
	if (made) {
		write_json(&papers, ledger->json_path, ledger->process.pid);
		write_text(&papers, path, ledger->process.pid);
	} else {
		say("no report: out of memory", "", "");
	}
	drop(&papers);
	return made;
}

static bool write_user_file(const char *path, const struct gmt_buffer *paper)
{
	if (!same(path, "-"))
		return write_file(path, getpid(), paper);
	if (gmt_output_write(STDOUT_FILENO, paper->text, paper->bytes))
		return true;
	say("cannot write standard output", "", "");
	return false;
}

bool gmt_report_write(const struct gmt_ledger *ledger, struct gmt_symbolizer *symbolizer,
		      const char *text_path, const char *json_path, struct gmt_outcome *outcome)
{
	bool color = text_path && same(text_path, "-") && color_wanted(STDOUT_FILENO);
	struct papers papers = { 0 };
	bool made = draw_up(ledger, symbolizer, color, json_path, &papers);
	bool written = made;

	outcome->exit_code =
		made ? papers.report->verdict.exit_code : blind_exit_code(&ledger->settings);
	if (made) {
		gmt_buffer_add(&papers.text, papers.summary.text, papers.summary.bytes);
		if (text_path && !write_user_file(text_path, &papers.text))
			written = false;
		if (json_path && !write_user_file(json_path, &papers.json))
			written = false;
	} else {
		say("no report: out of memory", "", "");
	}
	drop(&papers);
	return written;
}
