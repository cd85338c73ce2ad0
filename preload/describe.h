/* Facts about the process, handed to the ledger when the report is taken. */
#ifndef GMT_PRELOAD_DESCRIBE_H
#define GMT_PRELOAD_DESCRIBE_H

#include <stdbool.h>

#include "preload/event.h"

struct gmt_ledger;

/* From the constructor: the arguments stay the program's. */
void gmt_describe_arguments(int argc, char **argv);

/* The program's name, as program= and %e mean it. */
const char *gmt_describe_program(void);

/* Nobody may change the ledger meanwhile. forked: the process is a child without exec. */
void gmt_describe(struct gmt_ledger *ledger, enum gmt_ended ended, int status, bool forked);

#endif
