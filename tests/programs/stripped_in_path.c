/* case: a stripped program started by its bare name still gives module, offset and build-id (GM69)
 */
/* strip */
/* start: PATH */
#include <cuda_runtime_api.h>

#include "program.h"

static void hidden(void)
{
	void *memory;

	MUST(cudaMalloc(&memory, 3 * MIB));
}

int main(void)
{
	hidden();
	return 0;
}
