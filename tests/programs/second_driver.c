/*
 * case: another library's entries of the driver's names are its own, and their look-ups are
 * counted; names that merely begin like the driver's are nobody's business
 */
#include <cuda_runtime_api.h>

#include "program.h"

static void check(void *library, const char *name, int answer)
{
	int (*entry)(void);

	*(void **)&entry = dlsym(library, name);
	EXPECT(entry);
	EXPECT(entry() == answer);
}

static void check_all(void *library)
{
	check(library, "cuMemAlloc_v2", 1001);
	check(library, "cuInit", 1002);
	check(library, "cuGetProcAddress_v2", 1003);
	check(library, "cudnnCreate", 1004);
	check(library, "cublasCreate_v2", 1005);
	check(library, "cufftPlan1d", 1006);
	check(library, "curandCreateGenerator", 1007);
	check(library, "cusolverDnCreate", 1008);
	check(library, "cuTensorNetCreate", 1009);
}

int main(void)
{
	void *library = open_beside(".plugin.so", RTLD_NOW | RTLD_LOCAL);
	void *memory;

	EXPECT(library);
	/* Before the driver is there, and after. */
	check_all(library);
	MUST(cudaMalloc(&memory, 5000));
	check_all(library);
	EXPECT(!dlsym(library, "cuMemAlloc"));
	EXPECT(dlerror());
	return 0;
}
