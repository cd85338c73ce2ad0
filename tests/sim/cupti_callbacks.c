/*
 * The one subscriber and its callbacks, which run on the thread that called the driver.
 *
 * The subscriber's own calls of the driver make callbacks as well, nested; only what this library
 * asks the driver itself stays unseen.
 */
#include "tests/sim/cupti_sim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MAX_CBIDS 1024
#define MAX_DEPTH 32

_Static_assert(CUPTI_DRIVER_TRACE_CBID_SIZE <= MAX_CBIDS, "room for the driver's numbers");
_Static_assert(CUPTI_RUNTIME_TRACE_CBID_SIZE <= MAX_CBIDS, "room for the runtime's numbers");

/* The handle given out; there is at most one, so it needs no memory of its own. */
struct CUpti_Subscriber_st {
	char name[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
	CUpti_CallbackFunc callback;
	void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUpti_Subscriber_st only;
static _Atomic(struct CUpti_Subscriber_st *) subscriber;
static atomic_uchar enabled[CUPTI_CB_DOMAIN_SIZE][MAX_CBIDS];

/* One scratch word per call that is under way, from its enter to its exit. */
static __thread struct {
	uint32_t correlation;
	uint64_t data;
} scratch[MAX_DEPTH];
static __thread unsigned int depth;

static void name_holder(const CUpti_SubscriberParams *params, const char *name)
{
	size_t length = strlen(name);

	if (!params || !params->oldSubscriberName || params->oldSubscriberSize == 0)
		return;
	if (length >= params->oldSubscriberSize)
		length = params->oldSubscriberSize - 1;
	memcpy(params->oldSubscriberName, name, length);
	params->oldSubscriberName[length] = '\0';
}

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			     void *data, const CUpti_SubscriberParams *params)
{
	static const char prefix[] = "CUPTI for ";
	const char *name = params && params->subscriberName ? params->subscriberName : "";

	if (sim_cupti_check() != CUPTI_SUCCESS)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!handle || (params && params->structSize == 0))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (sim_cupti_fault() == SIM_CUPTI_BUSY) {
		name_holder(params, "sim-holder");
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	}

	pthread_mutex_lock(&lock);
	if (atomic_load(&subscriber)) {
		name_holder(params, only.name);
		pthread_mutex_unlock(&lock);
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	}
	memset(&only, 0, sizeof(only));
	memcpy(only.name, prefix, sizeof(prefix));
	strncat(only.name, name, CUPTI_SUBSCRIBER_NAME_MAX_LEN);
	only.callback = callback;
	only.data = data;
	atomic_store(&subscriber, &only);
	pthread_mutex_unlock(&lock);
	*handle = &only;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *data)
{
	return sim_cupti_done(subscribe(handle, callback, data, NULL));
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			      void *data, CUpti_SubscriberParams *params)
{
	return sim_cupti_done(subscribe(handle, callback, data, params));
}

static void disable_all(void)
{
	for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++) {
		for (int cbid = 0; cbid < MAX_CBIDS; cbid++)
			atomic_store(&enabled[domain][cbid], 0);
	}
}

void sim_cupti_callbacks_stop(void)
{
	pthread_mutex_lock(&lock);
	disable_all();
	atomic_store(&subscriber, NULL);
	pthread_mutex_unlock(&lock);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	CUptiResult result = sim_cupti_check();

	if (result != CUPTI_SUCCESS)
		return sim_cupti_done(result);
	if (!handle || handle != atomic_load(&subscriber))
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	sim_cupti_callbacks_stop();
	return sim_cupti_done(sim_cupti_update_tool());
}

bool sim_cupti_callbacks_wanted(void)
{
	bool wanted = false;

	if (!atomic_load(&subscriber))
		return false;
	for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE && !wanted; domain++) {
		for (int cbid = 0; cbid < MAX_CBIDS && !wanted; cbid++)
			wanted = atomic_load(&enabled[domain][cbid]);
	}
	return wanted;
}

static CUptiResult check_handle(CUpti_SubscriberHandle handle)
{
	if (sim_cupti_check() != CUPTI_SUCCESS)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!handle || handle != atomic_load(&subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult result = check_handle(handle);

	if (result == CUPTI_SUCCESS && (cbid == 0 || cbid >= sim_cupti_nr_cbids(domain)))
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result != CUPTI_SUCCESS)
		return sim_cupti_done(result);
	atomic_store(&enabled[domain][cbid], enable != 0);
	return sim_cupti_done(sim_cupti_update_tool());
}

static void enable_domain(uint32_t enable, CUpti_CallbackDomain domain)
{
	for (CUpti_CallbackId cbid = 1; cbid < sim_cupti_nr_cbids(domain); cbid++)
		atomic_store(&enabled[domain][cbid], enable != 0);
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
			      CUpti_CallbackDomain domain)
{
	CUptiResult result = check_handle(handle);

	if (result == CUPTI_SUCCESS && sim_cupti_nr_cbids(domain) == 0)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result != CUPTI_SUCCESS)
		return sim_cupti_done(result);
	enable_domain(enable, domain);
	return sim_cupti_done(sim_cupti_update_tool());
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult result = check_handle(handle);

	if (result != CUPTI_SUCCESS)
		return sim_cupti_done(result);
	for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		enable_domain(enable, (CUpti_CallbackDomain)domain);
	return sim_cupti_done(sim_cupti_update_tool());
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
				  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult result = check_handle(handle);

	if (result == CUPTI_SUCCESS && (!enable || cbid == 0 || cbid >= sim_cupti_nr_cbids(domain)))
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result == CUPTI_SUCCESS)
		*enable = atomic_load(&enabled[domain][cbid]);
	return sim_cupti_done(result);
}

CUptiResult cuptiSupportedDomains(size_t *nr_domains, CUpti_DomainTable *domains)
{
	static CUpti_CallbackDomain supported[] = {
		CUPTI_CB_DOMAIN_DRIVER_API,
		CUPTI_CB_DOMAIN_RESOURCE,
	};

	if (!nr_domains || !domains)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	*nr_domains = sizeof(supported) / sizeof(*supported);
	*domains = supported;
	return CUPTI_SUCCESS;
}

/*
 * The word that the subscriber may use for this call, the same at enter and at exit; a call that
 * was entered unseen gets a zero. A call that was left unseen is dropped when an outer one ends.
 */
static uint64_t *scratch_of(const struct gmtsim_call *call, CUpti_ApiCallbackSite site)
{
	static __thread uint64_t spare;

	if (site == CUPTI_API_ENTER) {
		unsigned int slot = depth < MAX_DEPTH ? depth++ : MAX_DEPTH - 1;

		scratch[slot].correlation = call->correlation;
		scratch[slot].data = 0;
		return &scratch[slot].data;
	}
	for (unsigned int i = depth; i > 0; i--) {
		if (scratch[i - 1].correlation == call->correlation) {
			depth = i - 1;
			return &scratch[i - 1].data;
		}
	}
	spare = 0;
	return &spare;
}

void sim_cupti_call(const struct gmtsim_call *call, CUpti_ApiCallbackSite site)
{
	struct CUpti_Subscriber_st *holder = atomic_load(&subscriber);
	CUpti_CallbackId cbid = holder ? sim_cupti_driver_cbid(call->name) : 0;
	CUresult result = call->result;
	CUpti_CallbackData data;

	if (!cbid || !atomic_load(&enabled[CUPTI_CB_DOMAIN_DRIVER_API][cbid]))
		return;
	data = (CUpti_CallbackData){
		.callbackSite = site,
		.functionName = sim_cupti_cbid_name(CUPTI_CB_DOMAIN_DRIVER_API, cbid),
		.functionParams = call->params,
		.functionReturnValue = site == CUPTI_API_EXIT ? &result : NULL,
		.symbolName = call->symbol,
		.context = call->context,
		.contextUid = sim_cupti_context_id(call->context),
		.correlationData = scratch_of(call, site),
		.correlationId = call->correlation,
	};
	holder->callback(holder->data, CUPTI_CB_DOMAIN_DRIVER_API, cbid, &data);
}

void sim_cupti_context(CUcontext context, int created)
{
	struct CUpti_Subscriber_st *holder = atomic_load(&subscriber);
	CUpti_CallbackId cbid = created ? CUPTI_CBID_RESOURCE_CONTEXT_CREATED
					: CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
	CUpti_ResourceData data = { .context = context };

	if (holder && atomic_load(&enabled[CUPTI_CB_DOMAIN_RESOURCE][cbid]))
		holder->callback(holder->data, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}
