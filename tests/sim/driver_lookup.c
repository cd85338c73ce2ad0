/*
 * cuGetProcAddress: from (base name, version, flags) to the newest ABI that is not newer than the
 * version. Also the names of errors, which like the look-ups work before cuInit.
 */
#include <string.h>

#include "driver.h"

#include <cudaProfiler.h>

#include "driver_lookup.h"

int sim_unsupported(const char *name)
{
	struct sim_frame frame = { .call = { .name = name } };
	CUresult rc = sim_enter(&frame, 0);

	return sim_leave(&frame, rc == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : rc);
}

/* An ABI that comes after the headers: one more parameter, under a name that is no symbol. */
static CUresult allocate_in_future(CUdeviceptr *memory, size_t bytes, int level)
{
	return level == SIM_FUTURE_LEVEL ? cuMemAlloc_v2(memory, bytes) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult look_up(const char *name, void **pfn, int version, cuuint64_t flags,
			CUdriverProcAddressQueryResult *status)
{
	const struct sim_lookup *best = NULL;
	bool too_new = false;

	if (version > (sim_config()->future ? SIM_FUTURE : SIM_VERSION))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < sim_nr_lookups; i++) {
		const struct sim_lookup *row = &sim_lookups[i];

		if (strcmp(row->base, name) != 0)
			continue;
		if (row->per_thread && !(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
			continue;
		if (row->version > version)
			too_new = true;
		/* The newest wins; of two of the same version, the twin that was asked for. */
		else if (!best || row->version > best->version ||
			 (row->version == best->version && row->per_thread))
			best = row;
	}
	*pfn = best ? best->address : NULL;
	if (best && sim_config()->thunks)
		*pfn = sim_thunk((unsigned int)(best - sim_lookups));
	if (version >= SIM_FUTURE && strcmp(name, "cuMemAlloc") == 0)
		*pfn = (void *)allocate_in_future;
	if (status)
		*status = best	    ? CU_GET_PROC_ADDRESS_SUCCESS
			  : too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

SIM_API_EARLY(cuGetProcAddress_v2,
	      (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
	       CUdriverProcAddressQueryResult *symbolStatus),
	      (symbol, pfn, cudaVersion, flags, symbolStatus))
{
	/* The runtime's first call has an empty name: not found, which is a success. */
	if (!symbol || !pfn || flags & ~(cuuint64_t)3)
		return CUDA_ERROR_INVALID_VALUE;
	return look_up(symbol, pfn, cudaVersion, flags, symbolStatus);
}

SIM_API_EARLY(cuGetProcAddress, (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags),
	      (symbol, pfn, cudaVersion, flags))
{
	void *found;
	CUresult rc;

	if (!symbol || !pfn || flags & ~(cuuint64_t)3)
		return CUDA_ERROR_INVALID_VALUE;
	rc = look_up(symbol, &found, cudaVersion, flags, NULL);
	/* Without a status to tell, this ABI answers with an error. */
	if (rc == CUDA_SUCCESS && !found)
		return CUDA_ERROR_NOT_FOUND;
	if (rc == CUDA_SUCCESS)
		*pfn = found;
	return rc;
}

static const struct error {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define SIM_ERROR(name, text) { name, #name, text },
#include "driver_errors.def"
#undef SIM_ERROR
};

static const struct error *error_of(CUresult code)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code)
			return &errors[i];
	return NULL;
}

SIM_API_EARLY(cuGetErrorName, (CUresult error, const char **pStr), (error, pStr))
{
	const struct error *found = error_of(error);

	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = found ? found->name : NULL;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_EARLY(cuGetErrorString, (CUresult error, const char **pStr), (error, pStr))
{
	const struct error *found = error_of(error);

	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = found ? found->text : NULL;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The profiler control has no parameter structs: its entries are written out. */

CUresult cuProfilerInitialize(const char *configFile, const char *outputFile,
			      CUoutput_mode outputMode)
{
	struct sim_frame frame = { .call = { .name = "cuProfilerInitialize" } };
	CUresult rc = sim_enter(&frame, 0);

	return sim_leave(&frame, rc == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : rc);
}

CUresult cuProfilerStart(void)
{
	struct sim_frame frame = { .call = { .name = "cuProfilerStart" } };

	return sim_leave(&frame, sim_enter(&frame, 0));
}

CUresult cuProfilerStop(void)
{
	struct sim_frame frame = { .call = { .name = "cuProfilerStop" } };

	return sim_leave(&frame, sim_enter(&frame, 0));
}
