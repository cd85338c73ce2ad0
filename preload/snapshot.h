/* Writes a ledger's state in the trace format (trace.h). Pure but for the descriptor. */
#ifndef GMT_PRELOAD_SNAPSHOT_H
#define GMT_PRELOAD_SNAPSHOT_H

#include <stdbool.h>

struct gmt_ledger;

/* Nobody may change the ledger meanwhile. False: fd could not be written; errno says why. */
bool gmt_snapshot_write(const struct gmt_ledger *ledger, int fd);

#endif
