/* Numbers and names: callback ids from the headers' enums, and texts of the results. */
#include "tests/sim/cupti_sim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Both are made from CUPTI's headers by cupti.mk, one row per enumerator. */
static const char *const driver_names[CUPTI_DRIVER_TRACE_CBID_SIZE] = {
#define CBID(number, name) [number] = name,
#include "cupti_driver_cbids.h"
};

static const char *const runtime_names[CUPTI_RUNTIME_TRACE_CBID_SIZE] = {
#include "cupti_runtime_cbids.h"
#undef CBID
};

static CUpti_CallbackId by_name[CUPTI_DRIVER_TRACE_CBID_SIZE];
static size_t nr_by_name;
static pthread_once_t sorted = PTHREAD_ONCE_INIT;

static int compare_names(const void *a, const void *b)
{
	return strcmp(driver_names[*(const CUpti_CallbackId *)a],
		      driver_names[*(const CUpti_CallbackId *)b]);
}

static void sort_names(void)
{
	for (CUpti_CallbackId i = 0; i < CUPTI_DRIVER_TRACE_CBID_SIZE; i++) {
		if (driver_names[i])
			by_name[nr_by_name++] = i;
	}
	qsort(by_name, nr_by_name, sizeof(*by_name), compare_names);
}

static int compare_to_name(const void *key, const void *cbid)
{
	return strcmp(key, driver_names[*(const CUpti_CallbackId *)cbid]);
}

CUpti_CallbackId sim_cupti_driver_cbid(const char *name)
{
	const CUpti_CallbackId *found;

	pthread_once(&sorted, sort_names);
	found = bsearch(name, by_name, nr_by_name, sizeof(*by_name), compare_to_name);
	return found ? *found : 0;
}

CUpti_CallbackId sim_cupti_nr_cbids(CUpti_CallbackDomain domain)
{
	switch (domain) {
	case CUPTI_CB_DOMAIN_DRIVER_API:
		return CUPTI_DRIVER_TRACE_CBID_SIZE;
	case CUPTI_CB_DOMAIN_RUNTIME_API:
		return CUPTI_RUNTIME_TRACE_CBID_SIZE;
	case CUPTI_CB_DOMAIN_RESOURCE:
		return CUPTI_CBID_RESOURCE_SIZE;
	case CUPTI_CB_DOMAIN_SYNCHRONIZE:
		return CUPTI_CBID_SYNCHRONIZE_SIZE;
	case CUPTI_CB_DOMAIN_NVTX:
		return CUPTI_CBID_NVTX_SIZE;
	case CUPTI_CB_DOMAIN_STATE:
		return CUPTI_CBID_STATE_SIZE;
	default:
		return 0;
	}
}

const char *sim_cupti_cbid_name(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (cbid >= sim_cupti_nr_cbids(domain))
		return NULL;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		return driver_names[cbid];
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return runtime_names[cbid];
	return NULL;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	const char *found = sim_cupti_cbid_name(domain, cbid);

	if (!name || !found)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	*name = found;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct {
		CUptiResult result;
		const char *name;
	} texts[] = {
		{ CUPTI_SUCCESS, "CUPTI_SUCCESS" },
#define RESULT(name) { CUPTI_ERROR_##name, "CUPTI_ERROR_" #name }
		RESULT(INVALID_PARAMETER),
		RESULT(INVALID_DEVICE),
		RESULT(INVALID_CONTEXT),
		RESULT(INVALID_OPERATION),
		RESULT(OUT_OF_MEMORY),
		RESULT(PARAMETER_SIZE_NOT_SUFFICIENT),
		RESULT(MAX_LIMIT_REACHED),
		RESULT(NOT_COMPATIBLE),
		RESULT(NOT_INITIALIZED),
		RESULT(QUEUE_EMPTY),
		RESULT(INVALID_STREAM),
		RESULT(INVALID_KIND),
		RESULT(NOT_SUPPORTED),
		RESULT(INSUFFICIENT_PRIVILEGES),
		RESULT(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED),
		RESULT(UNKNOWN),
#undef RESULT
	};

	for (size_t i = 0; text && i < sizeof(texts) / sizeof(*texts); i++) {
		if (texts[i].result == result) {
			*text = texts[i].name;
			return CUPTI_SUCCESS;
		}
	}
	return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
}
