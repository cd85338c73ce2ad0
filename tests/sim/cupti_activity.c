/*
 * Which activity kinds are wanted, and the records made of what the driver reports. The records
 * are queued here on the application's threads; cupti_buffers.c hands them to the client.
 */
#include "tests/sim/cupti_buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONTEXT_KINDS 64
#define MAX_PUSHED	  16
#define NR_ATTRIBUTES	  9

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool kinds[CUPTI_ACTIVITY_KIND_COUNT];
static atomic_uint nr_kinds; /* enabled ones, of contexts as well */

static struct {
	uint32_t context; /* 0: a free row */
	CUpti_ActivityKind kind;
} context_kinds[MAX_CONTEXT_KINDS];

/* Names outlive the module they came from, as the client reads them when it pleases. */
static struct name {
	struct name *next;
	char text[];
} * names;

static struct {
	size_t size;
	unsigned char value[sizeof(uint64_t)];
} attributes[NR_ATTRIBUTES];

static __thread struct {
	unsigned int depth;
	uint64_t ids[MAX_PUSHED];
} pushed[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

/* The kinds that this library has records for. */
static bool is_known(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
}

bool sim_cupti_activity_wanted(void)
{
	return atomic_load(&nr_kinds) > 0;
}

static CUptiResult switch_kind(CUpti_ActivityKind kind, bool on)
{
	CUptiResult result = sim_cupti_check();

	if (result != CUPTI_SUCCESS)
		return result;
	if (!is_known(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (atomic_exchange(&kinds[kind], on) != on)
		atomic_fetch_add(&nr_kinds, on ? 1u : -1u);
	return sim_cupti_update_tool();
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	return sim_cupti_done(switch_kind(kind, true));
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	return sim_cupti_done(switch_kind(kind, false));
}

static CUptiResult switch_context_kind(CUcontext context, CUpti_ActivityKind kind, bool on)
{
	uint32_t id = sim_cupti_context_id(context);
	CUptiResult result = CUPTI_ERROR_MAX_LIMIT_REACHED;

	if (sim_cupti_check() != CUPTI_SUCCESS)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!is_known(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (id == 0)
		return CUPTI_ERROR_INVALID_CONTEXT;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_CONTEXT_KINDS; i++) {
		if (context_kinds[i].context == id && context_kinds[i].kind == kind) {
			context_kinds[i].context = 0;
			atomic_fetch_sub(&nr_kinds, 1);
		}
	}
	for (size_t i = 0; i < MAX_CONTEXT_KINDS && on && result != CUPTI_SUCCESS; i++) {
		if (context_kinds[i].context != 0)
			continue;
		context_kinds[i].context = id;
		context_kinds[i].kind = kind;
		atomic_fetch_add(&nr_kinds, 1);
		result = CUPTI_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	if (on && result != CUPTI_SUCCESS)
		return result;
	return sim_cupti_update_tool();
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return sim_cupti_done(switch_context_kind(context, kind, true));
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return sim_cupti_done(switch_context_kind(context, kind, false));
}

static bool is_wanted(uint32_t context, CUpti_ActivityKind kind)
{
	bool wanted = atomic_load(&kinds[kind]);

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_CONTEXT_KINDS && !wanted; i++)
		wanted = context != 0 && context_kinds[i].context == context &&
			 context_kinds[i].kind == kind;
	pthread_mutex_unlock(&lock);
	return wanted;
}

static const char *intern(const char *text)
{
	struct name *name;

	pthread_mutex_lock(&lock);
	for (name = names; name && strcmp(name->text, text) != 0; name = name->next)
		;
	if (!name) {
		name = malloc(sizeof(*name) + strlen(text) + 1);
		if (name) {
			strcpy(name->text, text);
			name->next = names;
			names = name;
		}
	}
	pthread_mutex_unlock(&lock);
	return name ? name->text : NULL;
}

void sim_cupti_kernel(const struct gmtsim_kernel *kernel)
{
	CUpti_ActivityKernel10 record = { .kind = CUPTI_ACTIVITY_KIND_INVALID };

	/* A client that asks for both gets one: the concurrent kind wins. */
	if (is_wanted(kernel->context_id, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	else if (is_wanted(kernel->context_id, CUPTI_ACTIVITY_KIND_KERNEL))
		record.kind = CUPTI_ACTIVITY_KIND_KERNEL;
	if (record.kind == CUPTI_ACTIVITY_KIND_INVALID || sim_cupti_fault() == SIM_CUPTI_EMPTY)
		return;

	record.name = intern(kernel->name ? kernel->name : "");
	record.start = kernel->start_ns;
	record.end = kernel->end_ns;
	record.completed = kernel->end_ns;
	record.deviceId = kernel->device;
	record.contextId = kernel->context_id;
	record.streamId = kernel->stream_id;
	record.correlationId = kernel->correlation;
	record.gridX = (int32_t)kernel->grid[0];
	record.gridY = (int32_t)kernel->grid[1];
	record.gridZ = (int32_t)kernel->grid[2];
	record.blockX = (int32_t)kernel->block[0];
	record.blockY = (int32_t)kernel->block[1];
	record.blockZ = (int32_t)kernel->block[2];
	record.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
	sim_cupti_queue(&record, sizeof(record));
}

/* Ties a launch to the innermost id of each kind that the thread has pushed. */
void sim_cupti_launch(const struct gmtsim_call *call)
{
	if (!call->symbol || !atomic_load(&kinds[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION]) ||
	    sim_cupti_fault() == SIM_CUPTI_EMPTY)
		return;
	for (int kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
		CUpti_ActivityExternalCorrelation record = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = (CUpti_ExternalCorrelationKind)kind,
			.correlationId = call->correlation,
		};

		if (pushed[kind].depth == 0)
			continue;
		record.externalId = pushed[kind].ids[pushed[kind].depth - 1];
		sim_cupti_queue(&record, sizeof(record));
	}
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if (sim_cupti_check() != CUPTI_SUCCESS)
		return sim_cupti_done(CUPTI_ERROR_NOT_INITIALIZED);
	if ((unsigned int)kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	if (pushed[kind].depth == MAX_PUSHED)
		return sim_cupti_done(CUPTI_ERROR_OUT_OF_MEMORY);
	pushed[kind].ids[pushed[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						  uint64_t *last)
{
	if ((unsigned int)kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	if (pushed[kind].depth == 0)
		return sim_cupti_done(CUPTI_ERROR_QUEUE_EMPTY);
	pushed[kind].depth--;
	if (last)
		*last = pushed[kind].ids[pushed[kind].depth];
	return CUPTI_SUCCESS;
}

/* Stored and given back; nothing here behaves differently for them. */
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
	if (!size || !value || (unsigned int)attribute >= NR_ATTRIBUTES)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	if (*size == 0 || *size > sizeof(attributes[attribute].value))
		return sim_cupti_done(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
	pthread_mutex_lock(&lock);
	attributes[attribute].size = *size;
	memcpy(attributes[attribute].value, value, *size);
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (!size || !value || (unsigned int)attribute >= NR_ATTRIBUTES)
		return sim_cupti_done(CUPTI_ERROR_INVALID_PARAMETER);
	pthread_mutex_lock(&lock);
	if (*size < attributes[attribute].size)
		result = CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	else
		memcpy(value, attributes[attribute].value, attributes[attribute].size);
	pthread_mutex_unlock(&lock);
	return sim_cupti_done(result);
}

void sim_cupti_activity_stop(void)
{
	pthread_mutex_lock(&lock);
	memset(context_kinds, 0, sizeof(context_kinds));
	for (size_t i = 0; i < CUPTI_ACTIVITY_KIND_COUNT; i++)
		atomic_store(&kinds[i], false);
	atomic_store(&nr_kinds, 0);
	pthread_mutex_unlock(&lock);
	sim_cupti_buffers_stop();
}
