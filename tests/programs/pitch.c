/* case: pitched memory counts with the driver's pitch, not with the width that was asked for */
#include <cuda_runtime_api.h>

#include "program.h"

int main(void)
{
	void *image;
	size_t pitch;

	MUST(cudaMallocPitch(&image, &pitch, 1000, 100));
	EXPECT(pitch == 1024);
	return 0;
}
