/* The linker: it keeps the first piece of code that it is given and hands that back as the result.
 */
#include <stdlib.h>
#include <string.h>

#include "driver_module.h"

struct link {
	struct sim_object object;
	char *code;
	size_t bytes;
};

static CUresult create(CUlinkState *out)
{
	SIM_CURRENT(ctx);
	struct link *link;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	link = sim_object_new(sizeof(*link), SIM_LINK, ctx);
	if (!link)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (CUlinkState)link;
	return CUDA_SUCCESS;
}

static CUresult add(CUlinkState state, const void *data, size_t bytes)
{
	SIM_FIND(link, link, state, SIM_LINK);

	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!data || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (link->code)
		return CUDA_SUCCESS;
	link->code = calloc(1, bytes + sizeof(uint64_t)); /* text ends with a zero */
	if (!link->code)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(link->code, data, bytes);
	link->bytes = bytes;
	return CUDA_SUCCESS;
}

static CUresult add_file(CUlinkState state, const char *path)
{
	size_t bytes;
	CUresult rc;
	void *code;

	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	code = sim_file_read(path, &bytes, &rc);
	if (code)
		rc = add(state, code, bytes);
	free(code);
	return rc;
}

#define OPTIONS unsigned int numOptions, CUjit_option *options, void **optionValues

SIM_API(cuLinkCreate, (OPTIONS, CUlinkState *stateOut),
	(numOptions, options, optionValues, stateOut))
{
	return create(stateOut);
}

SIM_API_SAME(cuLinkCreate_v2, cuLinkCreate, (OPTIONS, CUlinkState *stateOut),
	     (numOptions, options, optionValues, stateOut));

SIM_API(cuLinkAddData,
	(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
	 OPTIONS),
	(state, type, data, size, name, numOptions, options, optionValues))
{
	return add(state, data, size);
}

SIM_API_SAME(cuLinkAddData_v2, cuLinkAddData,
	     (CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
	      OPTIONS),
	     (state, type, data, size, name, numOptions, options, optionValues));

SIM_API(cuLinkAddFile, (CUlinkState state, CUjitInputType type, const char *path, OPTIONS),
	(state, type, path, numOptions, options, optionValues))
{
	return add_file(state, path);
}

SIM_API_SAME(cuLinkAddFile_v2, cuLinkAddFile,
	     (CUlinkState state, CUjitInputType type, const char *path, OPTIONS),
	     (state, type, path, numOptions, options, optionValues));

SIM_API(cuLinkComplete, (CUlinkState state, void **cubinOut, size_t *sizeOut),
	(state, cubinOut, sizeOut))
{
	SIM_FIND(link, link, state, SIM_LINK);

	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!cubinOut || !link->code)
		return CUDA_ERROR_INVALID_VALUE;
	*cubinOut = link->code;
	if (sizeOut)
		*sizeOut = link->bytes;
	return CUDA_SUCCESS;
}

void sim_link_destroy(void *object)
{
	struct link *link = object;

	free(link->code);
	sim_object_free(link);
}

SIM_API(cuLinkDestroy, (CUlinkState state), (state))
{
	SIM_FIND(link, link, state, SIM_LINK);

	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_link_destroy(link);
	return CUDA_SUCCESS;
}
