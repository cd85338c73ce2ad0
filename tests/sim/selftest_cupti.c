/*
 * Self-test of the simulated CUPTI, on a kernel that the driver loads from PTX. Linked to
 * libcuda.so.1 and libcupti.so.13. Each fault of GMTSIM_CUPTI is tried in a child. Exit 0, or 1
 * with the line that failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cupti.h>

#define EXPECT(claim)                                                                              \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #claim);                         \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)
#define OK(call) EXPECT((call) == 0)

#define NR_LAUNCHES  100
#define BUFFER_BYTES (sizeof(CUpti_ActivityKernel10) * 8 + 64)

static const char ptx[] = ".version 8.0\n"
			  ".target sm_80\n"
			  ".address_size 64\n"
			  ".visible .entry work(.param .u64 out, .param .u32 n)\n"
			  "{\n"
			  "ret;\n"
			  "}\n";

static struct {
	unsigned int enters, exits, launches, contexts;
	size_t last_bytes;    /* of cuMemAlloc */
	uint32_t correlation; /* of the last launch */
	int mismatches;	      /* exits whose correlation data is not their enter's */
	char symbol[64];
} seen;

static struct {
	unsigned int requested, completed, kernels, external;
	CUpti_ActivityKernel10 last;
	uint64_t external_id;
} records;

static void on_driver_call(CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
	if (data->callbackSite == CUPTI_API_ENTER) {
		seen.enters++;
		*data->correlationData = data->correlationId * 3ull;
		return;
	}
	seen.exits++;
	if (*data->correlationData != data->correlationId * 3ull)
		seen.mismatches++;
	if (*(CUresult *)data->functionReturnValue != CUDA_SUCCESS)
		return;
	if (cbid == CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2 && data->functionParams)
		seen.last_bytes = ((const cuMemAlloc_v2_params *)data->functionParams)->bytesize;
	if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
		seen.launches++;
		seen.correlation = data->correlationId;
		snprintf(seen.symbol, sizeof(seen.symbol), "%s",
			 data->symbolName ? data->symbolName : "");
	}
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
				 const void *data)
{
	if (user != &seen)
		abort();
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		on_driver_call(cbid, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		seen.contexts++;
}

static void CUPTIAPI on_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	records.requested++;
	*size = BUFFER_BYTES;
	*buffer = malloc(BUFFER_BYTES);
	*max_records = 0;
}

static void CUPTIAPI on_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
				  size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			records.kernels++;
			memcpy(&records.last, record, sizeof(records.last));
		} else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
			records.external++;
			records.external_id =
				((CUpti_ActivityExternalCorrelation *)record)->externalId;
		}
	}
	records.completed++;
	free(buffer);
}

static int launch(CUfunction work, CUdeviceptr out, unsigned int times)
{
	unsigned int n = 4;
	void *args[] = { &out, &n };

	for (unsigned int i = 0; i < times; i++)
		OK(cuLaunchKernel(work, 2, 3, 1, 64, 1, 1, 0, NULL, args, NULL));
	OK(cuCtxSynchronize());
	return 0;
}

static int test_callbacks(CUpti_SubscriberHandle *handle)
{
	char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams params = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE };
	CUpti_SubscriberHandle second;
	const char *name = NULL;
	uint32_t version = 0;
	uint32_t enabled = 0;
	CUdeviceptr ptr;
	CUcontext context;

	OK(cuptiGetVersion(&version));
	EXPECT(version == CUPTI_API_VERSION);
	params.subscriberName = "selftest";
	OK(cuptiSubscribe_v2(handle, on_callback, &seen, &params));
	params.oldSubscriberName = holder;
	params.oldSubscriberSize = sizeof(holder);
	EXPECT(cuptiSubscribe_v2(&second, on_callback, NULL, &params) ==
	       CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	EXPECT(strcmp(holder, "CUPTI for selftest") == 0);
	EXPECT(cuptiGetLastError() == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	OK(cuptiGetLastError());
	OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
				&name));
	EXPECT(strcmp(name, "cuMemAlloc_v2") == 0);

	OK(cuptiEnableCallback(1, *handle, CUPTI_CB_DOMAIN_DRIVER_API,
			       CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
	OK(cuptiEnableDomain(1, *handle, CUPTI_CB_DOMAIN_RESOURCE));
	OK(cuptiGetCallbackState(&enabled, *handle, CUPTI_CB_DOMAIN_DRIVER_API,
				 CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
	EXPECT(enabled == 1);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	EXPECT(seen.contexts == 1);
	OK(cuMemAlloc(&ptr, 12345));
	OK(cuMemFree(ptr));
	EXPECT(seen.enters == 1 && seen.exits == 1 && seen.mismatches == 0);
	EXPECT(seen.last_bytes == 12345);
	OK(cuptiEnableCallback(1, *handle, CUPTI_CB_DOMAIN_DRIVER_API,
			       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	return 0;
}

static int test_records(CUpti_SubscriberHandle handle)
{
	uint32_t context_id = 0;
	size_t dropped = 99;
	uint64_t before, after, popped = 0;
	CUdeviceptr out;
	CUfunction work;
	CUmodule module;
	CUcontext context;

	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&work, module, "work"));
	OK(cuMemAlloc(&out, 4096));
	OK(cuptiActivityRegisterCallbacks(on_requested, on_completed));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	OK(cuptiGetTimestamp(&before));
	OK(launch(work, out, NR_LAUNCHES - 1));
	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 77));
	OK(launch(work, out, 1));
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped));
	EXPECT(popped == 77);
	OK(cuptiActivityFlushAll(0));
	OK(cuptiGetTimestamp(&after));

	EXPECT(seen.launches == NR_LAUNCHES && strcmp(seen.symbol, "work") == 0);
	EXPECT(records.kernels == NR_LAUNCHES);
	EXPECT(records.external == 1 && records.external_id == 77);
	EXPECT(records.requested == records.completed && records.completed > NR_LAUNCHES / 9);
	EXPECT(strcmp(records.last.name, "work") == 0);
	EXPECT(records.last.gridX == 2 && records.last.gridY == 3 && records.last.blockX == 64);
	EXPECT(records.last.correlationId == seen.correlation);
	EXPECT(records.last.start >= before && records.last.end >= records.last.start);
	EXPECT(records.last.end <= after);
	OK(cuCtxGetCurrent(&context));
	OK(cuptiGetContextId(context, &context_id));
	EXPECT(records.last.contextId == context_id);
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	EXPECT(dropped == 0);

	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	OK(cuptiUnsubscribe(handle));
	OK(launch(work, out, 1));
	OK(cuptiActivityFlushAll(0));
	EXPECT(records.kernels == NR_LAUNCHES && seen.launches == NR_LAUNCHES);

	/* Only where the context matches. */
	OK(cuptiActivityEnableContext(context, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(work, out, 1));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	EXPECT(records.kernels == NR_LAUNCHES + 1);
	OK(cuptiFinalize());
	OK(launch(work, out, 1));
	EXPECT(records.kernels == NR_LAUNCHES + 1);
	OK(cuMemFree(out));
	return 0;
}

static int test_busy(void)
{
	char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams params = {
		.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.oldSubscriberName = holder,
		.oldSubscriberSize = sizeof(holder),
	};
	CUpti_SubscriberHandle handle;

	EXPECT(cuptiSubscribe_v2(&handle, on_callback, &seen, &params) ==
	       CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	EXPECT(strcmp(holder, "sim-holder") == 0);
	return 0;
}

static int test_notinit(void)
{
	CUpti_SubscriberHandle handle;

	EXPECT(cuptiSubscribe(&handle, on_callback, &seen) == CUPTI_ERROR_NOT_INITIALIZED);
	EXPECT(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL) == CUPTI_ERROR_NOT_INITIALIZED);
	return 0;
}

static int test_old(void)
{
	uint32_t version = 0;

	OK(cuptiGetVersion(&version));
	EXPECT(version == 11);
	return 0;
}

static int test_empty(void)
{
	CUdeviceptr out;
	CUfunction work;
	CUmodule module;
	CUcontext context;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&work, module, "work"));
	OK(cuMemAlloc(&out, 4096));
	OK(cuptiActivityRegisterCallbacks(on_requested, on_completed));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(work, out, 5));
	OK(cuptiActivityFlushAll(0));
	EXPECT(records.kernels == 0);
	return 0;
}

static int in_child(const char *fault, int (*test)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		setenv("GMTSIM_CUPTI", fault, 1);
		exit(test());
	}
	waitpid(child, &status, 0);
	return status != 0;
}

int main(void)
{
	CUpti_SubscriberHandle handle;

	if (in_child("busy", test_busy) || in_child("notinit", test_notinit) ||
	    in_child("old", test_old) || in_child("empty", test_empty))
		return 1;
	return test_callbacks(&handle) || test_records(handle);
}
