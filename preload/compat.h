/*
 * What hooks need of the driver's API and older headers than 12.5 lack. The library hooks the same
 * entries whichever headers it was built with (11.8 and later): drivers are newer than headers.
 *
 * Included by wrap.h, after <cuda.h>. A type that is only passed on stays incomplete.
 */
#ifndef GMT_PRELOAD_COMPAT_H
#define GMT_PRELOAD_COMPAT_H

#if CUDA_VERSION < 12000
typedef struct CUkern_st *CUkernel;
typedef enum CUdriverProcAddressQueryResult_enum {
	CU_GET_PROC_ADDRESS_SUCCESS = 0,
	CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
	CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} CUdriverProcAddressQueryResult;

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status);
#endif

#if CUDA_VERSION < 12030
typedef struct CUgraphEdgeData_st CUgraphEdgeData;

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
				     const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
				     size_t count, CUstreamCaptureMode mode);
CUresult cuFuncGetName(const char **name, CUfunction function);
CUresult cuKernelGetName(const char **name, CUkernel kernel);
#endif

#if CUDA_VERSION < 12040
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes);
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes);
#endif

#if CUDA_VERSION < 12050
typedef struct CUctxCreateParams_st CUctxCreateParams;

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
			CUdevice device);
#endif

#endif
