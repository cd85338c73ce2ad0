/*
 * Starts the program `gmtrace` to write the report of the process that is ending. It runs as a
 * grandchild: the process gets no SIGCHLD, and its waitpid(-1) no stranger.
 */
#ifndef GMT_PRELOAD_SPAWN_H
#define GMT_PRELOAD_SPAWN_H

#include <stdbool.h>

#include "preload/event.h"

struct gmt_ledger;

enum gmt_spawned {
	GMT_SPAWN_DONE,	  /* outcome holds the verdict */
	GMT_SPAWN_WROTE,  /* it began to write and did not end well: outcome has the verdict */
	GMT_SPAWN_FAILED, /* nothing was written */
};

/* own_directory: where libgmtrace.so lies; gmtrace is looked for beside it and in ../../bin. */
enum gmt_spawned gmt_spawn_report(const struct gmt_ledger *ledger, const char *own_directory,
				  struct gmt_outcome *outcome);

#endif
