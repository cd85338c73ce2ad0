/* What record.c and record_facts.c share; included by nobody else. */
#ifndef GMT_PRELOAD_RECORD_INTERNAL_H
#define GMT_PRELOAD_RECORD_INTERNAL_H

#include "preload/record.h"

/* The ledger, locked; NULL, unlocked: there is no memory for one, or the report is being taken. */
struct gmt_ledger *gmt_record_lock(void);
void gmt_record_unlock(void);

#endif
