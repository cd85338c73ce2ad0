/*
 * Kernel launches. A kernel that a test registered runs as a host function on the calling thread;
 * any other does nothing and takes GMTSIM_KERNEL_NS of simulated time. A CUkernel cast to
 * CUfunction is taken as well, as the runtime passes it.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

/* The entry behind a CUfunction or a CUkernel; makes the kernel's module in this context. */
static struct sim_entry *find_entry(CUfunction handle, struct sim_context *ctx, CUresult *rc)
{
	SIM_FIND(function, sim_function, handle, SIM_FUNCTION);
	SIM_FIND(kernel, sim_kernel, handle, SIM_KERNEL);

	*rc = CUDA_ERROR_INVALID_HANDLE;
	if (function) {
		if (function->module->object.context != ctx)
			return NULL;
		*rc = CUDA_SUCCESS;
		return function->entry;
	}
	if (!kernel || !sim_library_module(kernel->library, ctx, rc))
		return NULL;
	return kernel->entry;
}

const char *sim_symbol_of(CUfunction handle)
{
	const char *name = NULL;
	struct sim_function *function;
	struct sim_kernel *kernel;

	/* Only the tool asks; and after a fork the mutex may be locked for ever. */
	if (!sim_tool() || !sim_is_ready())
		return NULL;
	sim_lock();
	function = sim_object_find(handle, SIM_FUNCTION);
	kernel = sim_object_find(handle, SIM_KERNEL);
	if (function)
		name = function->entry->name;
	else if (kernel)
		name = kernel->entry->name;
	sim_unlock();
	return name;
}

/* One block: the array of pointers, then the values. */
static bool own_values(struct sim_launch *launch, const char *packed, void *const *params)
{
	const struct sim_entry *entry = launch->entry;
	size_t array = sim_round(entry->nr_params * sizeof(void *), 16);
	char *block = calloc(1, array + entry->param_bytes + 16);

	if (!block)
		return false;
	launch->values = block;
	launch->params = (void **)block;
	for (unsigned int i = 0; i < entry->nr_params; i++) {
		const struct sim_param *param = &entry->params[i];

		launch->params[i] = block + array + param->offset;
		memcpy(launch->params[i], packed ? packed + param->offset : params[i], param->size);
	}
	return true;
}

static CUresult unpack(struct sim_launch *launch, void **extra)
{
	const char *buffer = NULL;
	size_t bytes = 0;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			bytes = *(size_t *)extra[1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (!launch->entry->known)
		return CUDA_SUCCESS;
	if (bytes < launch->entry->param_bytes || (!buffer && launch->entry->nr_params))
		return CUDA_ERROR_INVALID_VALUE;
	return own_values(launch, buffer, NULL) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_launch_set(struct sim_launch *launch, CUfunction handle, void **params, void **extra)
{
	SIM_CURRENT(ctx);
	unsigned long threads =
		(unsigned long)launch->block[0] * launch->block[1] * launch->block[2];
	CUresult rc;

	if (!threads || threads > 1024 || !launch->grid[0] || !launch->grid[1] || !launch->grid[2])
		return CUDA_ERROR_INVALID_VALUE;
	launch->entry = find_entry(handle, ctx, &rc);
	if (!launch->entry)
		return rc;
	launch->handle = handle;
	if (params && extra)
		return CUDA_ERROR_INVALID_VALUE;
	if (extra)
		return unpack(launch, extra);
	if (!params && launch->entry->known && launch->entry->nr_params)
		return CUDA_ERROR_INVALID_VALUE;
	launch->params = params;
	return CUDA_SUCCESS;
}

bool sim_launch_copy(struct sim_launch *to, const struct sim_launch *from)
{
	*to = *from;
	to->values = NULL;
	to->params = NULL;
	/* Without a layout there is no telling how much to copy. */
	if (!from->entry->known || !from->params)
		return true;
	return own_values(to, NULL, from->params);
}

void sim_stream_busy(struct sim_stream *stream, uint64_t end_ns)
{
	struct sim_context *ctx = stream->object.context;

	if (end_ns > stream->busy_until_ns)
		stream->busy_until_ns = end_ns;
	if (end_ns > ctx->busy_until_ns)
		ctx->busy_until_ns = end_ns;
}

CUresult sim_launch_run(const struct sim_launch *launch, struct sim_stream *stream)
{
	struct sim_context *ctx = stream->object.context;
	sim_host_kernel run = sim_host_kernel_of(launch->entry->name);
	const struct gmtsim_tool *tool = sim_tool();
	struct gmtsim_kernel done = {
		.name = launch->entry->name,
		.start_ns = sim_now_ns(),
		.device = (uint32_t)ctx->device->ordinal,
		.context_id = ctx->id,
		.stream_id = stream->id,
		.correlation = sim_self.correlation,
		.grid = { launch->grid[0], launch->grid[1], launch->grid[2] },
		.block = { launch->block[0], launch->block[1], launch->block[2] },
	};

	if (stream->busy_until_ns > done.start_ns)
		done.start_ns = stream->busy_until_ns;
	done.end_ns = done.start_ns + sim_config()->kernel_ns;
	if (run) {
		sim_unlock();
		run(launch->params);
		done.end_ns = sim_now_ns();
		sim_lock();
	}
	sim_stream_busy(stream, done.end_ns);
	if (tool && tool->kernel) {
		sim_unlock();
		tool->kernel(&done);
		sim_lock();
	}
	return CUDA_SUCCESS;
}

static CUresult launch(struct sim_launch shape, CUfunction f, CUstream handle, void **params,
		       void **extra)
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_KERNEL, .launch = shape };
	struct sim_stream *stream;
	CUresult rc = sim_stream_for_work(handle, &stream);

	if (rc == CUDA_SUCCESS)
		rc = sim_launch_set(&work.launch, f, params, extra);
	if (rc != CUDA_SUCCESS) {
		free(work.launch.values);
		return rc;
	}
	return sim_submit(stream, &work);
}

SIM_API_LAUNCH(cuLaunchKernel, _ptsz,
	       (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
		unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
		unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra),
	       (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
		hStream, kernelParams, extra))
{
	struct sim_launch shape = { .grid = { gridDimX, gridDimY, gridDimZ },
				    .block = { blockDimX, blockDimY, blockDimZ },
				    .shared = sharedMemBytes };

	return launch(shape, f, hStream, kernelParams, extra);
}

SIM_API_LAUNCH(cuLaunchKernelEx, _ptsz,
	       (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),
	       (config, f, kernelParams, extra))
{
	struct sim_launch shape;

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	shape = (struct sim_launch){
		.grid = { config->gridDimX, config->gridDimY, config->gridDimZ },
		.block = { config->blockDimX, config->blockDimY, config->blockDimZ },
		.shared = config->sharedMemBytes,
	};
	return launch(shape, f, config->hStream, kernelParams, extra);
}

SIM_API_LAUNCH(cuLaunchCooperativeKernel, _ptsz,
	       (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
		unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
		unsigned int sharedMemBytes, CUstream hStream, void **kernelParams),
	       (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
		hStream, kernelParams))
{
	struct sim_launch shape = { .grid = { gridDimX, gridDimY, gridDimZ },
				    .block = { blockDimX, blockDimY, blockDimZ },
				    .shared = sharedMemBytes };

	return launch(shape, f, hStream, kernelParams, NULL);
}

SIM_API(cuLaunchCooperativeKernelMultiDevice,
	(CUDA_LAUNCH_PARAMS * launchParamsList, unsigned int numDevices, unsigned int flags),
	(launchParamsList, numDevices, flags))
{
	CUresult rc = launchParamsList ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (unsigned int i = 0; rc == CUDA_SUCCESS && i < numDevices; i++) {
		CUDA_LAUNCH_PARAMS *one = &launchParamsList[i];
		struct sim_launch shape = {
			.grid = { one->gridDimX, one->gridDimY, one->gridDimZ },
			.block = { one->blockDimX, one->blockDimY, one->blockDimZ },
			.shared = one->sharedMemBytes,
		};

		rc = launch(shape, one->function, one->hStream, one->kernelParams, NULL);
	}
	return rc;
}

/* Occupancy: the answers of a kernel without registers or shared memory of note. */

static bool is_code(CUfunction f)
{
	return sim_object_find(f, SIM_FUNCTION) || sim_object_find(f, SIM_KERNEL);
}

static CUresult blocks_per_multiprocessor(int *blocks, CUfunction f, int block_size)
{
	if (!blocks || block_size <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_code(f))
		return CUDA_ERROR_INVALID_HANDLE;
	*blocks = block_size > 1024 ? 0 : SIM_SM_THREADS / block_size;
	if (*blocks > 32)
		*blocks = 32;
	return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize),
	(numBlocks, func, blockSize, dynamicSMemSize))
{
	return blocks_per_multiprocessor(numBlocks, func, blockSize);
}

SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	(int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
	 unsigned int flags),
	(numBlocks, func, blockSize, dynamicSMemSize, flags))
{
	return blocks_per_multiprocessor(numBlocks, func, blockSize);
}

static CUresult potential_block(int *grid, int *block, CUfunction f, int limit)
{
	if (!grid || !block)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_code(f))
		return CUDA_ERROR_INVALID_HANDLE;
	*block = limit > 0 && limit < 1024 ? limit : 1024;
	*grid = SIM_MULTIPROCESSORS * (SIM_SM_THREADS / *block);
	return CUDA_SUCCESS;
}

SIM_API(cuOccupancyMaxPotentialBlockSize,
	(int *minGridSize, int *blockSize, CUfunction func,
	 CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit),
	(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit))
{
	return potential_block(minGridSize, blockSize, func, blockSizeLimit);
}

SIM_API(cuOccupancyMaxPotentialBlockSizeWithFlags,
	(int *minGridSize, int *blockSize, CUfunction func,
	 CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
	 unsigned int flags),
	(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit,
	 flags))
{
	return potential_block(minGridSize, blockSize, func, blockSizeLimit);
}

SIM_API(cuOccupancyAvailableDynamicSMemPerBlock,
	(size_t * dynamicSmemSize, CUfunction func, int numBlocks, int blockSize),
	(dynamicSmemSize, func, numBlocks, blockSize))
{
	if (!dynamicSmemSize || numBlocks <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*dynamicSmemSize = 49152 / (size_t)numBlocks;
	return CUDA_SUCCESS;
}
