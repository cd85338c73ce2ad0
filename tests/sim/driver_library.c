/*
 * Libraries and kernels: code without a context. A library takes no device memory until a context
 * first launches, asks for a function or for a variable of it; then a module is made there.
 */
#include <stdlib.h>
#include <string.h>

#include "driver_module.h"

static CUresult load(CUlibrary *out, const void *code, size_t limit)
{
	struct sim_library *library;
	struct sim_image *image;

	if (!out || !code)
		return CUDA_ERROR_INVALID_VALUE;
	image = sim_image_parse(code, limit);
	if (!image)
		return CUDA_ERROR_INVALID_IMAGE;
	library = sim_object_new(sizeof(*library), SIM_LIBRARY, NULL);
	if (!library)
		return CUDA_ERROR_OUT_OF_MEMORY;
	library->image = image;
	*out = (CUlibrary)library;
	return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadData,
	(CUlibrary * library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
	 unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
	 unsigned int numLibraryOptions),
	(library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
	 libraryOptionValues, numLibraryOptions))
{
	return load(library, code, SIZE_MAX);
}

SIM_API(cuLibraryLoadFromFile,
	(CUlibrary * library, const char *fileName, CUjit_option *jitOptions,
	 void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
	 void **libraryOptionValues, unsigned int numLibraryOptions),
	(library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
	 libraryOptionValues, numLibraryOptions))
{
	size_t bytes;
	CUresult rc;
	void *code;

	if (!fileName)
		return CUDA_ERROR_INVALID_VALUE;
	code = sim_file_read(fileName, &bytes, &rc);
	if (code)
		rc = load(library, code, bytes);
	free(code);
	return rc;
}

SIM_API(cuLibraryUnload, (CUlibrary library), (library))
{
	SIM_FIND(victim, sim_library, library, SIM_LIBRARY);

	if (!victim)
		return CUDA_ERROR_INVALID_HANDLE;
	while (victim->modules)
		sim_module_destroy(victim->modules);
	while (victim->kernels) {
		struct sim_kernel *kernel = victim->kernels;

		victim->kernels = kernel->next;
		sim_object_free(kernel);
	}
	sim_object_free(victim);
	return CUDA_SUCCESS;
}

struct sim_module *sim_library_module(struct sim_library *library, struct sim_context *ctx,
				      CUresult *rc)
{
	*rc = CUDA_SUCCESS;
	for (struct sim_module *module = library->modules; module; module = module->next)
		if (module->object.context == ctx)
			return module;
	return sim_module_new(ctx, library->image, library, rc);
}

static struct sim_kernel *kernel_of(struct sim_library *library, struct sim_entry *entry)
{
	struct sim_kernel *kernel = library->kernels;

	while (kernel && kernel->entry != entry)
		kernel = kernel->next;
	if (kernel)
		return kernel;
	kernel = sim_object_new(sizeof(*kernel), SIM_KERNEL, NULL);
	if (!kernel)
		return NULL;
	kernel->library = library;
	kernel->entry = entry;
	kernel->next = library->kernels;
	library->kernels = kernel;
	return kernel;
}

SIM_API(cuLibraryGetKernel, (CUkernel * pKernel, CUlibrary library, const char *name),
	(pKernel, library, name))
{
	SIM_FIND(found, sim_library, library, SIM_LIBRARY);
	struct sim_entry *entry;
	struct sim_kernel *kernel;

	if (!pKernel || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	entry = sim_image_kernel(found->image, name);
	if (!entry)
		return CUDA_ERROR_NOT_FOUND;
	kernel = kernel_of(found, entry);
	if (!kernel)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*pKernel = (CUkernel)kernel;
	return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetKernelCount, (unsigned int *count, CUlibrary lib), (count, lib))
{
	SIM_FIND(library, sim_library, lib, SIM_LIBRARY);

	if (!count || !library)
		return CUDA_ERROR_INVALID_VALUE;
	*count = library->image->nr_entries;
	return CUDA_SUCCESS;
}

SIM_API(cuLibraryEnumerateKernels, (CUkernel * kernels, unsigned int numKernels, CUlibrary lib),
	(kernels, numKernels, lib))
{
	SIM_FIND(library, sim_library, lib, SIM_LIBRARY);
	struct sim_entry *entry;

	if (!kernels || !library)
		return CUDA_ERROR_INVALID_VALUE;
	entry = library->image->entries;
	for (unsigned int i = 0; i < numKernels && entry; i++, entry = entry->next)
		kernels[i] = (CUkernel)kernel_of(library, entry);
	return CUDA_SUCCESS;
}

SIM_API(cuLibraryGetModule, (CUmodule * pMod, CUlibrary library), (pMod, library))
{
	SIM_CURRENT(ctx);
	SIM_FIND(found, sim_library, library, SIM_LIBRARY);
	CUresult rc;

	if (!pMod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	*pMod = (CUmodule)sim_library_module(found, ctx, &rc);
	return rc;
}

SIM_API(cuLibraryGetGlobal,
	(CUdeviceptr * dptr, size_t *bytes, CUlibrary library, const char *name),
	(dptr, bytes, library, name))
{
	SIM_CURRENT(ctx);
	SIM_FIND(found, sim_library, library, SIM_LIBRARY);
	struct sim_module *module;
	CUresult rc;

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	module = sim_library_module(found, ctx, &rc);
	return module ? sim_module_global(module, name, dptr, bytes) : rc;
}

SIM_API(cuLibraryGetManaged,
	(CUdeviceptr * dptr, size_t *bytes, CUlibrary library, const char *name),
	(dptr, bytes, library, name))
{
	return sim_object_find(library, SIM_LIBRARY) ? CUDA_ERROR_NOT_FOUND
						     : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuKernelGetFunction, (CUfunction * pFunc, CUkernel kernel), (pFunc, kernel))
{
	SIM_CURRENT(ctx);
	SIM_FIND(found, sim_kernel, kernel, SIM_KERNEL);
	struct sim_module *module;
	CUresult rc;

	if (!pFunc)
		return CUDA_ERROR_INVALID_VALUE;
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	module = sim_library_module(found->library, ctx, &rc);
	if (!module)
		return rc;
	*pFunc = (CUfunction)sim_module_function(module, found->entry);
	return *pFunc ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_API(cuKernelGetLibrary, (CUlibrary * pLib, CUkernel kernel), (pLib, kernel))
{
	SIM_FIND(found, sim_kernel, kernel, SIM_KERNEL);

	if (!pLib)
		return CUDA_ERROR_INVALID_VALUE;
	if (!found)
		return CUDA_ERROR_INVALID_HANDLE;
	*pLib = (CUlibrary)found->library;
	return CUDA_SUCCESS;
}

SIM_API(cuFuncGetModule, (CUmodule * hmod, CUfunction hfunc), (hmod, hfunc))
{
	SIM_FIND(function, sim_function, hfunc, SIM_FUNCTION);

	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	*hmod = (CUmodule)function->module;
	return CUDA_SUCCESS;
}

/* The entry behind a handle of exactly this type: the other kind is 400, as measured. */
static struct sim_entry *entry_of(const void *handle, enum sim_type type)
{
	struct sim_object *object = sim_object_find(handle, type);

	if (!object)
		return NULL;
	return type == SIM_KERNEL ? ((struct sim_kernel *)object)->entry
				  : ((struct sim_function *)object)->entry;
}

static CUresult name_of(const char **name, const struct sim_entry *entry)
{
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!entry)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = entry->name;
	return CUDA_SUCCESS;
}

SIM_API(cuKernelGetName, (const char **name, CUkernel hfunc), (name, hfunc))
{
	return name_of(name, entry_of(hfunc, SIM_KERNEL));
}

SIM_API(cuFuncGetName, (const char **name, CUfunction hfunc), (name, hfunc))
{
	return name_of(name, entry_of(hfunc, SIM_FUNCTION));
}

CUresult sim_entry_param(const struct sim_entry *entry, size_t index, size_t *offset, size_t *size)
{
	if (!entry)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!offset || !entry->known || index >= entry->nr_params)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = entry->params[index].offset;
	if (size)
		*size = entry->params[index].size;
	return CUDA_SUCCESS;
}

SIM_API(cuKernelGetParamInfo,
	(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
	(kernel, paramIndex, paramOffset, paramSize))
{
	return sim_entry_param(entry_of(kernel, SIM_KERNEL), paramIndex, paramOffset, paramSize);
}

SIM_API(cuFuncGetParamInfo,
	(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize),
	(func, paramIndex, paramOffset, paramSize))
{
	return sim_entry_param(entry_of(func, SIM_FUNCTION), paramIndex, paramOffset, paramSize);
}

static CUresult attribute_of(const struct sim_entry *entry, int *value, CUfunction_attribute attr)
{
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!entry)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (attr) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = 32;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = 90;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = 49152;
		break;
	default:
		if (attr >= CU_FUNC_ATTRIBUTE_MAX)
			return CUDA_ERROR_INVALID_VALUE;
		*value = 0;
		break;
	}
	return CUDA_SUCCESS;
}

SIM_API(cuFuncGetAttribute, (int *pi, CUfunction_attribute attrib, CUfunction hfunc),
	(pi, attrib, hfunc))
{
	return attribute_of(entry_of(hfunc, SIM_FUNCTION), pi, attrib);
}

SIM_API(cuKernelGetAttribute, (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev),
	(pi, attrib, kernel, dev))
{
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	return attribute_of(entry_of(kernel, SIM_KERNEL), pi, attrib);
}

static CUresult accept(const struct sim_entry *entry)
{
	return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuFuncSetAttribute, (CUfunction hfunc, CUfunction_attribute attrib, int value),
	(hfunc, attrib, value))
{
	return accept(entry_of(hfunc, SIM_FUNCTION));
}

SIM_API(cuKernelSetAttribute, (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev),
	(attrib, val, kernel, dev))
{
	return accept(entry_of(kernel, SIM_KERNEL));
}

SIM_API(cuFuncSetCacheConfig, (CUfunction hfunc, CUfunc_cache config), (hfunc, config))
{
	return accept(entry_of(hfunc, SIM_FUNCTION));
}

SIM_API(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice dev),
	(kernel, config, dev))
{
	return accept(entry_of(kernel, SIM_KERNEL));
}

SIM_API(cuFuncSetSharedMemConfig, (CUfunction hfunc, CUsharedconfig config), (hfunc, config))
{
	return accept(entry_of(hfunc, SIM_FUNCTION));
}

SIM_API(cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction function), (state, function))
{
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	*state = CU_FUNCTION_LOADING_STATE_LOADED;
	return accept(entry_of(function, SIM_FUNCTION));
}

SIM_API(cuFuncLoad, (CUfunction function), (function))
{
	return accept(entry_of(function, SIM_FUNCTION));
}
