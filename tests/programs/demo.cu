/* case: the program of `make demo`: a leak in a loop, one on an error path, and pinned pages */
#include <cuda_runtime.h>

#include "tests/programs/program.h"

struct Model {
	float *weights, *activations;
	size_t count;
};

__global__ void scale(float *out, const float *in, size_t count)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	if (i < count)
		out[i] = in[i] * 0.5f;
}

static void *device_memory(size_t bytes)
{
	void *memory;

	MUST(cudaMalloc(&memory, bytes));
	return memory;
}

static Model load_model(size_t count)
{
	Model model;

	model.count = count;
	model.weights = (float *)device_memory(count * sizeof(float));
	model.activations = (float *)device_memory(count * sizeof(float));
	return model;
}

static void unload_model(Model *model)
{
	cudaFree(model->weights);
	cudaFree(model->activations);
}

/* Forgets its scratch buffer: one leak a step. */
static void train_step(const Model *model)
{
	float *scratch = (float *)device_memory(3 * MIB);

	scale<<<(unsigned int)(model->count / 256), 256>>>(model->activations, model->weights,
							   model->count);
	scale<<<(unsigned int)(model->count / 256), 256>>>(scratch, model->activations,
							   3 * MIB / 4);
}

/* Gives up on an empty file, and forgets what it had by then. */
static bool read_labels(size_t count)
{
	void *labels = device_memory(100000);

	if (count == 0)
		return false;
	cudaFree(labels);
	return true;
}

/* Every fourth block stays, and with it a whole page of 2 MiB. */
static void fill_cache(void *kept[8])
{
	void *blocks[32];

	for (int i = 0; i < 32; i++)
		blocks[i] = device_memory(512 * KIB);
	for (int i = 0; i < 32; i++) {
		if (i % 4 == 0)
			kept[i / 4] = blocks[i];
		else
			cudaFree(blocks[i]);
	}
}

int main(void)
{
	Model model = load_model(4 * MIB);
	void *cache[8];

	fill_cache(cache);
	for (int step = 0; step < 3; step++)
		train_step(&model);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 8; i++)
		cudaFree(cache[i]);
	read_labels(1000);
	read_labels(0);
	unload_model(&model);
	return 0;
}
