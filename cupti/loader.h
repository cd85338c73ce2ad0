/*
 * Finds libcupti and opens it; it is never linked. A CUPTI that is in the process already is the
 * one that is used, since there is one subscription per instance.
 */
#ifndef GMT_CUPTI_LOADER_H
#define GMT_CUPTI_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "cupti/layout.h"

/* The entries that must be there. */
#define GMT_CUPTI_ENTRIES(ENTRY)                                                                   \
	ENTRY(cuptiGetVersion)                                                                     \
	ENTRY(cuptiGetResultString)                                                                \
	ENTRY(cuptiSubscribe)                                                                      \
	ENTRY(cuptiUnsubscribe)                                                                    \
	ENTRY(cuptiActivityRegisterCallbacks)                                                      \
	ENTRY(cuptiActivityEnable)                                                                 \
	ENTRY(cuptiActivityGetNextRecord)                                                          \
	ENTRY(cuptiActivityGetNumDroppedRecords)                                                   \
	ENTRY(cuptiActivityFlushAll)

struct gmt_cupti_api {
#define GMT_ENTRY(symbol) __typeof__(&symbol) symbol;
	GMT_CUPTI_ENTRIES(GMT_ENTRY)
#undef GMT_ENTRY
#if CUPTI_API_VERSION >= 130000
	__typeof__(&cuptiSubscribe_v2) cuptiSubscribe_v2; /* NULL: older than 13.0 */
#endif
	uint32_t version;
	const struct gmt_layout *layout;
};

/* False: there is no CUPTI to be used, and reason says why. driver is its version (13000). */
bool gmt_loader_open(int driver, struct gmt_cupti_api *api, char *reason, size_t room);

#endif
