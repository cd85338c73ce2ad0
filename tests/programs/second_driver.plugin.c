/* The other library of second_driver.c: a stub of the driver, and what begins like it. */
/* links: none */

#define ENTRY(name, answer)                                                                        \
	int name(void);                                                                            \
	int name(void)                                                                             \
	{                                                                                          \
		return answer;                                                                     \
	}

ENTRY(cuMemAlloc_v2, 1001)
ENTRY(cuInit, 1002)
ENTRY(cuGetProcAddress_v2, 1003)
ENTRY(cudnnCreate, 1004)
ENTRY(cublasCreate_v2, 1005)
ENTRY(cufftPlan1d, 1006)
ENTRY(curandCreateGenerator, 1007)
ENTRY(cusolverDnCreate, 1008)
ENTRY(cuTensorNetCreate, 1009)
