/*
 * Modules: code loaded into one context. Each costs GMTSIM_MODULE_BYTES, or the whole pages of its
 * variables if those are more. Libraries make modules of themselves when a context needs them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_module.h"

static bool add_variables(struct sim_module *module)
{
	for (struct sim_variable *v = module->image->variables; v; v = v->next) {
		struct sim_range range = { .base = (uintptr_t)module->memory + v->offset,
					   .bytes = v->bytes,
					   .kind = SIM_KIND_GLOBAL,
					   .device = module->object.context->device,
					   .context = module->object.context };

		if (!sim_range_add(&range))
			return false;
	}
	return true;
}

struct sim_module *sim_module_new(struct sim_context *ctx, struct sim_image *image,
				  struct sim_library *library, CUresult *rc)
{
	size_t pages = sim_round(image->variable_bytes, SIM_PAGE) / SIM_PAGE;
	uint64_t bytes = sim_config()->module_bytes;
	struct sim_module *module;

	*rc = CUDA_ERROR_OUT_OF_MEMORY;
	if (bytes < pages * SIM_PAGE)
		bytes = pages * SIM_PAGE;
	if (!sim_charge(ctx->device, bytes))
		return NULL;
	module = sim_object_new(sizeof(*module), SIM_MODULE, ctx);
	if (!module) {
		sim_uncharge(ctx->device, bytes);
		return NULL;
	}
	module->image = image;
	module->library = library;
	module->charged = bytes;
	module->pages = pages;
	if (library) {
		module->next = library->modules;
		library->modules = module;
	}
	if (pages)
		module->memory = sim_space_take(&ctx->device->space, pages);
	if ((pages && !module->memory) || !add_variables(module)) {
		sim_module_destroy(module);
		return NULL;
	}
	*rc = CUDA_SUCCESS;
	return module;
}

void sim_module_destroy(struct sim_module *module)
{
	struct sim_device *device = module->object.context->device;

	for (struct sim_variable *v = module->image->variables; module->memory && v; v = v->next) {
		struct sim_range *range =
			sim_range_at((uintptr_t)module->memory + v->offset, SIM_KIND_GLOBAL);

		if (range)
			sim_range_remove(range);
	}
	if (module->memory)
		sim_space_give(&device->space, module->memory, module->pages);
	while (module->functions) {
		struct sim_function *function = module->functions;

		module->functions = function->next;
		sim_object_free(function);
	}
	if (module->library) {
		struct sim_module **link = &module->library->modules;

		while (*link != module)
			link = &(*link)->next;
		*link = module->next;
	}
	sim_uncharge(device, module->charged);
	sim_object_free(module);
}

struct sim_function *sim_module_function(struct sim_module *module, struct sim_entry *entry)
{
	struct sim_function *function = module->functions;

	while (function && function->entry != entry)
		function = function->next;
	if (function)
		return function;
	function = sim_object_new(sizeof(*function), SIM_FUNCTION, NULL);
	if (!function)
		return NULL;
	function->module = module;
	function->entry = entry;
	function->next = module->functions;
	module->functions = function;
	return function;
}

void *sim_file_read(const char *path, size_t *bytes, CUresult *rc)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	char *data = size < 0 ? NULL : malloc((size_t)size + sizeof(uint64_t));

	*rc = CUDA_SUCCESS;
	if (data)
		memset(data + size, 0, sizeof(uint64_t)); /* PTX ends with a zero */
	if (!data || pread(fd, data, (size_t)size, 0) != size) {
		*rc = fd < 0 ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_OPERATING_SYSTEM;
		free(data);
		data = NULL;
	}
	if (fd >= 0)
		close(fd);
	*bytes = (size_t)size;
	return data;
}

static CUresult load(CUmodule *out, const void *code, size_t limit)
{
	SIM_CURRENT(ctx);
	struct sim_module *module;
	struct sim_image *image;
	CUresult rc;

	if (!out || !code)
		return CUDA_ERROR_INVALID_VALUE;
	image = sim_image_parse(code, limit);
	if (!image)
		return CUDA_ERROR_INVALID_IMAGE;
	module = sim_module_new(ctx, image, NULL, &rc);
	if (module)
		*out = (CUmodule)module;
	return rc;
}

SIM_API(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
{
	return load(module, image, SIZE_MAX);
}

SIM_API(cuModuleLoadDataEx,
	(CUmodule * module, const void *image, unsigned int numOptions, CUjit_option *options,
	 void **optionValues),
	(module, image, numOptions, options, optionValues))
{
	return load(module, image, SIZE_MAX);
}

SIM_API(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin), (module, fatCubin))
{
	return load(module, fatCubin, SIZE_MAX);
}

SIM_API(cuModuleLoad, (CUmodule * module, const char *fname), (module, fname))
{
	size_t bytes;
	CUresult rc;
	void *code;

	if (!fname)
		return CUDA_ERROR_INVALID_VALUE;
	code = sim_file_read(fname, &bytes, &rc);
	if (code)
		rc = load(module, code, bytes);
	free(code);
	return rc;
}

SIM_API(cuModuleUnload, (CUmodule hmod), (hmod))
{
	SIM_FIND(module, sim_module, hmod, SIM_MODULE);

	if (!module || module->library)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_module_destroy(module);
	return CUDA_SUCCESS;
}

SIM_API(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), (mode))
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunction, (CUfunction * hfunc, CUmodule hmod, const char *name),
	(hfunc, hmod, name))
{
	SIM_FIND(module, sim_module, hmod, SIM_MODULE);
	struct sim_function *function;
	struct sim_entry *entry;

	if (!hfunc || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	entry = sim_image_kernel(module->image, name);
	if (!entry)
		return CUDA_ERROR_NOT_FOUND;
	function = sim_module_function(module, entry);
	if (!function)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*hfunc = (CUfunction)function;
	return CUDA_SUCCESS;
}

SIM_API(cuModuleGetFunctionCount, (unsigned int *count, CUmodule mod), (count, mod))
{
	SIM_FIND(module, sim_module, mod, SIM_MODULE);

	if (!count || !module)
		return CUDA_ERROR_INVALID_VALUE;
	*count = module->image->nr_entries;
	return CUDA_SUCCESS;
}

SIM_API(cuModuleEnumerateFunctions,
	(CUfunction * functions, unsigned int numFunctions, CUmodule mod),
	(functions, numFunctions, mod))
{
	SIM_FIND(module, sim_module, mod, SIM_MODULE);
	struct sim_entry *entry;

	if (!functions || !module)
		return CUDA_ERROR_INVALID_VALUE;
	entry = module->image->entries;
	for (unsigned int i = 0; i < numFunctions && entry; i++, entry = entry->next)
		functions[i] = (CUfunction)sim_module_function(module, entry);
	return CUDA_SUCCESS;
}

CUresult sim_module_global(struct sim_module *module, const char *name, CUdeviceptr *addr,
			   size_t *bytes)
{
	struct sim_variable *v = module->image->variables;

	while (v && strcmp(v->name, name) != 0)
		v = v->next;
	if (!v)
		return CUDA_ERROR_NOT_FOUND;
	if (addr)
		*addr = (CUdeviceptr)module->memory + v->offset;
	if (bytes)
		*bytes = v->bytes;
	return CUDA_SUCCESS;
}

SIM_API(cuModuleGetGlobal_v2, (CUdeviceptr * dptr, size_t *bytes, CUmodule hmod, const char *name),
	(dptr, bytes, hmod, name))
{
	SIM_FIND(module, sim_module, hmod, SIM_MODULE);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	return module ? sim_module_global(module, name, dptr, bytes) : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuModuleGetGlobal,
	(CUdeviceptr_v1 * dptr, unsigned int *bytes, CUmodule hmod, const char *name),
	(dptr, bytes, hmod, name))
{
	CUdeviceptr addr = 0;
	size_t size = 0;
	CUresult rc = do_cuModuleGetGlobal_v2(&addr, &size, hmod, name);

	/* Variables live above 4 GiB, out of the reach of this ABI. */
	if (rc == CUDA_SUCCESS && dptr && addr > UINT32_MAX)
		return CUDA_ERROR_NOT_FOUND;
	if (rc == CUDA_SUCCESS && bytes)
		*bytes = (unsigned int)size;
	return rc;
}
