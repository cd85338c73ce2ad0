/* Copies and fills of the simulated runtime. */
#include "tests/sim/runtime.h"

static CUresult copy(const struct rt_streams *drv, void *dst, const void *src, size_t bytes,
		     enum cudaMemcpyKind kind)
{
	CUdeviceptr to = (CUdeviceptr)dst;
	CUdeviceptr from = (CUdeviceptr)src;

	if (bytes == 0)
		return CUDA_SUCCESS;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return drv->cuMemcpyHtoD(to, src, bytes);
	case cudaMemcpyDeviceToHost:
		return drv->cuMemcpyDtoH(dst, from, bytes);
	case cudaMemcpyDeviceToDevice:
		return drv->cuMemcpyDtoD(to, from, bytes);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return drv->cuMemcpy(to, from, bytes);
	}
	return (CUresult)cudaErrorInvalidMemcpyDirection;
}

static CUresult copy_async(const struct rt_streams *drv, void *dst, const void *src, size_t bytes,
			   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUdeviceptr to = (CUdeviceptr)dst;
	CUdeviceptr from = (CUdeviceptr)src;

	if (bytes == 0)
		return CUDA_SUCCESS;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return drv->cuMemcpyHtoDAsync(to, src, bytes, stream);
	case cudaMemcpyDeviceToHost:
		return drv->cuMemcpyDtoHAsync(dst, from, bytes, stream);
	case cudaMemcpyDeviceToDevice:
		return drv->cuMemcpyDtoDAsync(to, from, bytes, stream);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return drv->cuMemcpyAsync(to, from, bytes, stream);
	}
	return (CUresult)cudaErrorInvalidMemcpyDirection;
}

RT_TWINS(cudaMemcpy, _ptds, (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind),
	 (dst, src, bytes, kind))
{
	return RT_CALL(copy(drv, dst, src, bytes, kind));
}

RT_TWINS(cudaMemcpyAsync, _ptsz,
	 (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
	 (dst, src, bytes, kind, stream))
{
	return RT_CALL(copy_async(drv, dst, src, bytes, kind, stream));
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
	(void)dst_device;
	(void)src_device;
	return RT_CALL(rt.legacy.cuMemcpyDtoD((CUdeviceptr)dst, (CUdeviceptr)src, bytes));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
				size_t bytes, cudaStream_t stream)
{
	(void)dst_device;
	(void)src_device;
	return RT_CALL(
		rt.legacy.cuMemcpyDtoDAsync((CUdeviceptr)dst, (CUdeviceptr)src, bytes, stream));
}

static CUDA_MEMCPY2D rectangle(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			       size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D how = { .WidthInBytes = width, .Height = height };
	bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
	bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
	bool unified = kind == cudaMemcpyDefault;

	how.srcMemoryType = unified	? CU_MEMORYTYPE_UNIFIED
			    : from_host ? CU_MEMORYTYPE_HOST
					: CU_MEMORYTYPE_DEVICE;
	how.srcHost = src;
	how.srcDevice = (CUdeviceptr)src;
	how.srcPitch = src_pitch;
	how.dstMemoryType = unified   ? CU_MEMORYTYPE_UNIFIED
			    : to_host ? CU_MEMORYTYPE_HOST
				      : CU_MEMORYTYPE_DEVICE;
	how.dstHost = dst;
	how.dstDevice = (CUdeviceptr)dst;
	how.dstPitch = dst_pitch;
	return how;
}

RT_TWINS(cudaMemcpy2D, _ptds,
	 (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
	  size_t height, enum cudaMemcpyKind kind),
	 (dst, dst_pitch, src, src_pitch, width, height, kind))
{
	CUDA_MEMCPY2D how = rectangle(dst, dst_pitch, src, src_pitch, width, height, kind);

	return RT_CALL(drv->cuMemcpy2DUnaligned(&how));
}

RT_TWINS(cudaMemcpy2DAsync, _ptsz,
	 (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
	  size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	 (dst, dst_pitch, src, src_pitch, width, height, kind, stream))
{
	CUDA_MEMCPY2D how = rectangle(dst, dst_pitch, src, src_pitch, width, height, kind);

	return RT_CALL(drv->cuMemcpy2DAsync(&how, stream));
}

/* The part of a registered variable that a copy means. */
static cudaError_t variable_at(const void *symbol, size_t offset, size_t bytes, void **address)
{
	CUdeviceptr start;
	size_t size;
	cudaError_t err = rt_find_variable(symbol, &start, &size);

	if (err != cudaSuccess)
		return err;
	if (offset > size || bytes > size - offset)
		return cudaErrorInvalidValue;
	*address = (void *)(start + offset);
	return cudaSuccess;
}

RT_TWINS(cudaMemcpyToSymbol, _ptds,
	 (const void *symbol, const void *src, size_t bytes, size_t offset,
	  enum cudaMemcpyKind kind),
	 (symbol, src, bytes, offset, kind))
{
	void *dst = NULL;
	cudaError_t err = RT_CALL(variable_at(symbol, offset, bytes, &dst));

	return err != cudaSuccess ? err : RT_CALL(copy(drv, dst, src, bytes, kind));
}

RT_TWINS(cudaMemcpyToSymbolAsync, _ptsz,
	 (const void *symbol, const void *src, size_t bytes, size_t offset,
	  enum cudaMemcpyKind kind, cudaStream_t stream),
	 (symbol, src, bytes, offset, kind, stream))
{
	void *dst = NULL;
	cudaError_t err = RT_CALL(variable_at(symbol, offset, bytes, &dst));

	return err != cudaSuccess ? err : RT_CALL(copy_async(drv, dst, src, bytes, kind, stream));
}

RT_TWINS(cudaMemcpyFromSymbol, _ptds,
	 (void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
	 (dst, symbol, bytes, offset, kind))
{
	void *src = NULL;
	cudaError_t err = RT_CALL(variable_at(symbol, offset, bytes, &src));

	return err != cudaSuccess ? err : RT_CALL(copy(drv, dst, src, bytes, kind));
}

RT_TWINS(cudaMemcpyFromSymbolAsync, _ptsz,
	 (void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
	  cudaStream_t stream),
	 (dst, symbol, bytes, offset, kind, stream))
{
	void *src = NULL;
	cudaError_t err = RT_CALL(variable_at(symbol, offset, bytes, &src));

	return err != cudaSuccess ? err : RT_CALL(copy_async(drv, dst, src, bytes, kind, stream));
}

RT_TWINS(cudaMemset, _ptds, (void *ptr, int value, size_t bytes), (ptr, value, bytes))
{
	return RT_CALL(drv->cuMemsetD8((CUdeviceptr)ptr, (unsigned char)value, bytes));
}

RT_TWINS(cudaMemsetAsync, _ptsz, (void *ptr, int value, size_t bytes, cudaStream_t stream),
	 (ptr, value, bytes, stream))
{
	return RT_CALL(drv->cuMemsetD8Async((CUdeviceptr)ptr, (unsigned char)value, bytes, stream));
}

RT_TWINS(cudaMemset2D, _ptds, (void *ptr, size_t pitch, int value, size_t width, size_t height),
	 (ptr, pitch, value, width, height))
{
	return RT_CALL(
		drv->cuMemsetD2D8((CUdeviceptr)ptr, pitch, (unsigned char)value, width, height));
}

RT_TWINS(cudaMemset2DAsync, _ptsz,
	 (void *ptr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
	 (ptr, pitch, value, width, height, stream))
{
	return RT_CALL(drv->cuMemsetD2D8Async((CUdeviceptr)ptr, pitch, (unsigned char)value, width,
					      height, stream));
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
	CUdeviceptr start = 0;
	size_t size;
	cudaError_t err = RT_CALL(rt_find_variable(symbol, &start, &size));

	if (err == cudaSuccess)
		*address = (void *)start;
	return err;
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	CUdeviceptr start;

	return RT_CALL(rt_find_variable(symbol, &start, bytes));
}
