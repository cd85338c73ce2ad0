/* case: a destructor that forgets one of its two blocks leaks that one */
#include <cuda_runtime_api.h>

#include "program.h"

class Layer
{
      public:
	void load()
	{
		MUST(cudaMalloc(&weights, 300000));
		MUST(cudaMalloc(&bias, 1200));
	}

	~Layer()
	{
		cudaFree(weights);
	}

      private:
	void *weights, *bias;
};

int main()
{
	Layer layer;

	layer.load();
	return 0;
}
