/*
 * What nvcc's start-up code registers: fat binaries, and the host names of their kernels and
 * variables. Nothing is loaded until a kernel or a variable is first used.
 */
#include "tests/sim/runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <fatbinary_section.h>

#define NR_BUCKETS 256

struct fatbin {
	struct fatbin *next;
	const void *image;
	CUlibrary library; /* NULL until loaded */
};

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_VARIABLE, SYMBOL_MANAGED };

struct symbol {
	struct symbol *next;
	const void *host;      /* what the application knows it by */
	const char *name;      /* mangled, in the image */
	struct fatbin *fatbin; /* NULL for a kernel handle given out by the library API */
	enum symbol_kind kind;
	CUkernel kernel;
	void **slot; /* managed: the host pointer that nvcc's code reads */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct symbol *buckets[NR_BUCKETS];
static struct fatbin *fatbins;

/* The start-up code's declarations are for C++ alone, so they are repeated here. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
			    int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
		       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **slot, char *device, const char *name,
			      int external, size_t size, int constant, int global);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);

static struct symbol **bucket_of(const void *host)
{
	return &buckets[((uintptr_t)host >> 4) % NR_BUCKETS];
}

static struct symbol *find_symbol(const void *host)
{
	struct symbol *symbol = *bucket_of(host);

	while (symbol && symbol->host != host)
		symbol = symbol->next;
	return symbol;
}

/* Host code names a managed variable by its value: the address in the slot, not the slot's own. */
static struct symbol *find_managed_at(const void *address)
{
	for (size_t i = 0; address && i < NR_BUCKETS; i++) {
		for (struct symbol *symbol = buckets[i]; symbol; symbol = symbol->next) {
			if (symbol->kind == SYMBOL_MANAGED && *symbol->slot == address)
				return symbol;
		}
	}
	return NULL;
}

/* Start-up code cannot be told of a failure; what did not fit is unknown at its first use. */
static void add_symbol(const struct symbol *model)
{
	struct symbol *symbol = malloc(sizeof(*symbol));
	struct symbol **bucket = bucket_of(model->host);

	if (!symbol)
		return;
	pthread_mutex_lock(&lock);
	*symbol = *model;
	symbol->next = *bucket;
	*bucket = symbol;
	pthread_mutex_unlock(&lock);
}

/*
 * A driver that knows no managed variables has them among the module's globals; that will do where
 * device memory can be read by the host, as on the simulated driver.
 */
static CUresult find_managed(const struct symbol *symbol, CUdeviceptr *address, size_t *bytes)
{
	CUlibrary library = symbol->fatbin->library;
	CUresult rc = rt.cuLibraryGetManaged(address, bytes, library, symbol->name);

	if (rc == CUDA_ERROR_NOT_FOUND)
		rc = rt.cuLibraryGetGlobal(address, bytes, library, symbol->name);
	return rc;
}

static void fill_managed_slots(struct fatbin *fatbin)
{
	for (size_t i = 0; i < NR_BUCKETS; i++) {
		for (struct symbol *symbol = buckets[i]; symbol; symbol = symbol->next) {
			CUdeviceptr address = 0;
			size_t size;

			if (symbol->fatbin == fatbin && symbol->kind == SYMBOL_MANAGED &&
			    find_managed(symbol, &address, &size) == CUDA_SUCCESS)
				*symbol->slot = (void *)address;
		}
	}
}

/* Called with the lock held. */
static CUresult load(struct fatbin *fatbin)
{
	CUresult rc;

	if (fatbin->library)
		return CUDA_SUCCESS;
	rc = rt.cuLibraryLoadData(&fatbin->library, fatbin->image, NULL, NULL, 0, NULL, NULL, 0);
	if (rc == CUDA_SUCCESS)
		fill_managed_slots(fatbin);
	else
		fatbin->library = NULL;
	return rc;
}

cudaError_t rt_find_kernel(const void *function, CUkernel *kernel)
{
	cudaError_t err = cudaErrorInvalidDeviceFunction;
	struct symbol *symbol;

	pthread_mutex_lock(&lock);
	symbol = find_symbol(function);
	if (symbol && symbol->kind == SYMBOL_KERNEL) {
		err = symbol->kernel ? cudaSuccess : (cudaError_t)load(symbol->fatbin);
		if (err == cudaSuccess && !symbol->kernel)
			err = (cudaError_t)rt.cuLibraryGetKernel(
				&symbol->kernel, symbol->fatbin->library, symbol->name);
		*kernel = symbol->kernel;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

const void *rt_function_of(CUkernel kernel)
{
	const void *host = kernel;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < NR_BUCKETS; i++) {
		for (struct symbol *symbol = buckets[i]; symbol; symbol = symbol->next) {
			if (symbol->kind == SYMBOL_KERNEL && symbol->kernel == kernel)
				host = symbol->host;
		}
	}
	pthread_mutex_unlock(&lock);
	return host;
}

void rt_adopt_kernel(CUkernel kernel)
{
	struct symbol model = { .host = kernel, .kind = SYMBOL_KERNEL, .kernel = kernel };
	bool known;

	pthread_mutex_lock(&lock);
	known = find_symbol(kernel) != NULL;
	pthread_mutex_unlock(&lock);
	if (!known)
		add_symbol(&model);
}

cudaError_t rt_find_variable(const void *host, CUdeviceptr *address, size_t *bytes)
{
	cudaError_t err = cudaErrorInvalidSymbol;
	struct symbol *symbol;

	pthread_mutex_lock(&lock);
	symbol = find_symbol(host);
	if (!symbol)
		symbol = find_managed_at(host);
	if (symbol && symbol->kind != SYMBOL_KERNEL) {
		err = (cudaError_t)load(symbol->fatbin);
		if (err == cudaSuccess && symbol->kind == SYMBOL_MANAGED)
			err = (cudaError_t)find_managed(symbol, address, bytes);
		else if (err == cudaSuccess)
			err = (cudaError_t)rt.cuLibraryGetGlobal(
				address, bytes, symbol->fatbin->library, symbol->name);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
	const __fatBinC_Wrapper_t *found = wrapper;
	struct fatbin *fatbin = calloc(1, sizeof(*fatbin));

	if (!fatbin)
		return NULL;
	fatbin->image = found->data;
	pthread_mutex_lock(&lock);
	fatbin->next = fatbins;
	fatbins = fatbin;
	pthread_mutex_unlock(&lock);
	return (void **)fatbin;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

static void forget_symbols(const struct fatbin *fatbin)
{
	for (size_t i = 0; i < NR_BUCKETS; i++) {
		struct symbol **link = &buckets[i];

		while (*link) {
			struct symbol *symbol = *link;

			if (symbol->fatbin == fatbin) {
				*link = symbol->next;
				free(symbol);
			} else {
				link = &symbol->next;
			}
		}
	}
}

/* Runs at exit or dlclose; by then the driver may have shut down, which is no error. */
void __cudaUnregisterFatBinary(void **handle)
{
	struct fatbin *fatbin = (struct fatbin *)handle;
	struct fatbin **link;

	if (!fatbin)
		return;
	pthread_mutex_lock(&lock);
	for (link = &fatbins; *link && *link != fatbin; link = &(*link)->next)
		;
	if (*link)
		*link = fatbin->next;
	forget_symbols(fatbin);
	pthread_mutex_unlock(&lock);
	if (fatbin->library)
		rt.cuLibraryUnload(fatbin->library);
	free(fatbin);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
			    int *warp_size)
{
	struct symbol model = {
		.host = host,
		.name = name,
		.fatbin = (struct fatbin *)handle,
		.kind = SYMBOL_KERNEL,
	};

	(void)device;
	(void)thread_limit;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp_size;
	if (handle)
		add_symbol(&model);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
		       size_t size, int constant, int global)
{
	struct symbol model = {
		.host = host,
		.name = name,
		.fatbin = (struct fatbin *)handle,
		.kind = SYMBOL_VARIABLE,
	};

	(void)device;
	(void)external;
	(void)size;
	(void)constant;
	(void)global;
	if (handle)
		add_symbol(&model);
}

void __cudaRegisterManagedVar(void **handle, void **slot, char *device, const char *name,
			      int external, size_t size, int constant, int global)
{
	struct symbol model = {
		.host = slot,
		.name = name,
		.fatbin = (struct fatbin *)handle,
		.kind = SYMBOL_MANAGED,
		.slot = slot,
	};

	(void)device;
	(void)external;
	(void)size;
	(void)constant;
	(void)global;
	if (handle)
		add_symbol(&model);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
	(void)handle;
	(void)name;
	(void)host;
	(void)size;
}

static CUresult load_locked(struct fatbin *fatbin)
{
	CUresult rc;

	pthread_mutex_lock(&lock);
	rc = load(fatbin);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* The generated code calls this before the host first touches a managed variable. */
char __cudaInitModule(void **handle)
{
	return handle && RT_CALL(load_locked((struct fatbin *)handle)) == cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	return RT_CALL(rt_find_kernel(function, (CUkernel *)kernel));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	return RT_CALL(rt_find_kernel(function, (CUkernel *)kernel));
}

static CUresult function_of(const void *symbol, cudaFunction_t *function)
{
	CUkernel kernel = NULL;
	cudaError_t err = rt_find_kernel(symbol, &kernel);

	return err != cudaSuccess ? (CUresult)err : rt.cuKernelGetFunction(function, kernel);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
	return RT_CALL(function_of(symbol, function));
}
