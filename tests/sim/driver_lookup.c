/*
 * cuGetProcAddress: from (base name, version, flags) to the newest ABI that is not newer than the
 * version. Also the names of errors, which like the look-ups work before cuInit.
 */
#include <ctype.h>
#include <string.h>

#include "driver.h"
#include "driver_lookup.h"

int sim_unsupported(const char *name)
{
	struct sim_frame frame = { .call = { .name = name } };
	CUresult rc = sim_enter(&frame, 0);

	return sim_leave(&frame, rc == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : rc);
}

static CUresult look_up(const char *name, void **pfn, int version, cuuint64_t flags,
			CUdriverProcAddressQueryResult *status)
{
	const struct sim_lookup *best = NULL;
	bool too_new = false;

	*pfn = NULL;
	if (version > SIM_VERSION)
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
	if (best)
		*pfn = best->address;
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
	/* The runtime's first call has an empty name: it only looks at which error comes back. */
	if (!symbol || !*symbol || !pfn || flags & ~(cuuint64_t)3)
		return CUDA_ERROR_INVALID_VALUE;
	return look_up(symbol, pfn, cudaVersion, flags, symbolStatus);
}

SIM_API_EARLY(cuGetProcAddress, (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags),
	      (symbol, pfn, cudaVersion, flags))
{
	CUdriverProcAddressQueryResult status;
	CUresult rc;

	if (!symbol || !*symbol || !pfn || flags & ~(cuuint64_t)3)
		return CUDA_ERROR_INVALID_VALUE;
	rc = look_up(symbol, pfn, cudaVersion, flags, &status);
	/* Without a status to tell, this ABI answers with an error. */
	return rc == CUDA_SUCCESS && !*pfn ? CUDA_ERROR_NOT_FOUND : rc;
}

static const struct {
	CUresult code;
	const char *name;
} names[] = {
#define SIM_ERROR(name, code) { name, #name },
#include "driver_errors.inc"
#undef SIM_ERROR
};

/* Where the text is not the name in lower case. */
static const struct {
	CUresult code;
	const char *text;
} texts[] = {
	{ CUDA_SUCCESS, "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "invalid argument" },
	{ CUDA_ERROR_NOT_INITIALIZED, "initialization error" },
	{ CUDA_ERROR_DEINITIALIZED, "driver shutting down" },
	{ CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected" },
	{ CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal" },
	{ CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid" },
	{ CUDA_ERROR_INVALID_CONTEXT, "invalid device context" },
	{ CUDA_ERROR_INVALID_HANDLE, "invalid resource handle" },
	{ CUDA_ERROR_NOT_FOUND, "named symbol not found" },
	{ CUDA_ERROR_NOT_READY, "device not ready" },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered" },
	{ CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed" },
	{ CUDA_ERROR_NOT_SUPPORTED, "operation not supported" },
	{ CUDA_ERROR_UNKNOWN, "unknown error" },
};

/* "CUDA_ERROR_OUT_OF_MEMORY" is "out of memory". */
static const char *text_of(CUresult code, const char *name)
{
	static char lower[sizeof(names) / sizeof(names[0])][80];
	size_t row = 0, at = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].code == code)
			return texts[i].text;
	while (names[row].code != code)
		row++;
	for (name += strlen("CUDA_ERROR_"); *name && at < sizeof(lower[row]) - 1; name++)
		lower[row][at++] = *name == '_' ? ' ' : (char)tolower((unsigned char)*name);
	return lower[row];
}

static const char *name_of(CUresult code)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			return names[i].name;
	return NULL;
}

SIM_API_EARLY(cuGetErrorName, (CUresult error, const char **pStr), (error, pStr))
{
	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = name_of(error);
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_EARLY(cuGetErrorString, (CUresult error, const char **pStr), (error, pStr))
{
	const char *name = name_of(error);

	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = name ? text_of(error, name) : NULL;
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
