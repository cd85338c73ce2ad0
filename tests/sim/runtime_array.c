/* What arrays hold, and copies that involve arrays or boxes: 2D to and from arrays, and 3D. */
#include "tests/sim/runtime.h"

#include <string.h>

static size_t format_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	default:
		return 4;
	}
}

static CUresult element_bytes(CUarray array, size_t *bytes)
{
	CUDA_ARRAY3D_DESCRIPTOR desc;
	CUresult rc = rt.cuArray3DGetDescriptor(&desc, array);

	if (rc == CUDA_SUCCESS)
		*bytes = format_bytes(desc.Format) * desc.NumChannels;
	return rc;
}

static enum cudaChannelFormatKind format_kind(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_SIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT32:
		return cudaChannelFormatKindSigned;
	case CU_AD_FORMAT_HALF:
	case CU_AD_FORMAT_FLOAT:
		return cudaChannelFormatKindFloat;
	default:
		return cudaChannelFormatKindUnsigned;
	}
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
			     unsigned int *flags, cudaArray_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR found = { 0 };
	cudaError_t err = RT_CALL(rt.cuArray3DGetDescriptor(&found, (CUarray)array));
	int bits = (int)format_bytes(found.Format) * 8;

	if (err != cudaSuccess)
		return err;
	if (desc) {
		desc->x = bits;
		desc->y = found.NumChannels > 1 ? bits : 0;
		desc->z = found.NumChannels > 2 ? bits : 0;
		desc->w = found.NumChannels > 3 ? bits : 0;
		desc->f = format_kind(found.Format);
	}
	if (extent)
		*extent = (struct cudaExtent){ found.Width, found.Height, found.Depth };
	if (flags)
		*flags = found.Flags;
	return cudaSuccess;
}

static CUmemorytype memory_type(bool array, bool host, enum cudaMemcpyKind kind)
{
	if (array)
		return CU_MEMORYTYPE_ARRAY;
	if (kind == cudaMemcpyDefault)
		return CU_MEMORYTYPE_UNIFIED;
	return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUresult rt_copy_descriptor(const struct cudaMemcpy3DParms *copy, CUDA_MEMCPY3D *out)
{
	enum cudaMemcpyKind kind = copy->kind;
	bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
	bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
	size_t from_bytes = 1;
	size_t to_bytes = 1;
	CUresult rc = CUDA_SUCCESS;

	memset(out, 0, sizeof(*out));
	if (copy->srcArray)
		rc = element_bytes((CUarray)copy->srcArray, &from_bytes);
	if (rc == CUDA_SUCCESS && copy->dstArray)
		rc = element_bytes((CUarray)copy->dstArray, &to_bytes);
	if (rc != CUDA_SUCCESS)
		return rc;

	out->srcXInBytes = copy->srcPos.x * from_bytes;
	out->srcY = copy->srcPos.y;
	out->srcZ = copy->srcPos.z;
	out->srcMemoryType = memory_type(copy->srcArray, from_host, kind);
	out->srcHost = copy->srcPtr.ptr;
	out->srcDevice = (CUdeviceptr)copy->srcPtr.ptr;
	out->srcArray = (CUarray)copy->srcArray;
	out->srcPitch = copy->srcPtr.pitch;
	out->srcHeight = copy->srcPtr.ysize;
	out->dstXInBytes = copy->dstPos.x * to_bytes;
	out->dstY = copy->dstPos.y;
	out->dstZ = copy->dstPos.z;
	out->dstMemoryType = memory_type(copy->dstArray, to_host, kind);
	out->dstHost = copy->dstPtr.ptr;
	out->dstDevice = (CUdeviceptr)copy->dstPtr.ptr;
	out->dstArray = (CUarray)copy->dstArray;
	out->dstPitch = copy->dstPtr.pitch;
	out->dstHeight = copy->dstPtr.ysize;
	/* An extent is in elements as soon as an array takes part. */
	out->WidthInBytes = copy->extent.width * (copy->srcArray ? from_bytes : to_bytes);
	out->Height = copy->extent.height;
	out->Depth = copy->extent.depth;
	return CUDA_SUCCESS;
}

static CUresult copy_box(const struct rt_streams *drv, const struct cudaMemcpy3DParms *copy)
{
	CUDA_MEMCPY3D how;
	CUresult rc = rt_copy_descriptor(copy, &how);

	return rc != CUDA_SUCCESS ? rc : drv->cuMemcpy3D(&how);
}

static CUresult copy_box_async(const struct rt_streams *drv, const struct cudaMemcpy3DParms *copy,
			       cudaStream_t stream)
{
	CUDA_MEMCPY3D how;
	CUresult rc = rt_copy_descriptor(copy, &how);

	return rc != CUDA_SUCCESS ? rc : drv->cuMemcpy3DAsync(&how, stream);
}

RT_TWINS(cudaMemcpy3D, _ptds, (const struct cudaMemcpy3DParms *copy), (copy))
{
	return RT_CALL(copy_box(drv, copy));
}

RT_TWINS(cudaMemcpy3DAsync, _ptsz, (const struct cudaMemcpy3DParms *copy, cudaStream_t stream),
	 (copy, stream))
{
	return RT_CALL(copy_box_async(drv, copy, stream));
}

/* The side that is an array, of a copy whose offsets and width are in bytes. */
static CUDA_MEMCPY2D array_rectangle(size_t width, size_t height)
{
	return (CUDA_MEMCPY2D){
		.srcMemoryType = CU_MEMORYTYPE_ARRAY,
		.dstMemoryType = CU_MEMORYTYPE_ARRAY,
		.WidthInBytes = width,
		.Height = height,
	};
}

static CUDA_MEMCPY2D to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D how = array_rectangle(width, height);

	how.dstArray = (CUarray)dst;
	how.dstXInBytes = x;
	how.dstY = y;
	how.srcMemoryType = memory_type(false, kind == cudaMemcpyHostToDevice, kind);
	how.srcHost = src;
	how.srcDevice = (CUdeviceptr)src;
	how.srcPitch = pitch;
	return how;
}

static CUDA_MEMCPY2D from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y,
				size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D how = array_rectangle(width, height);

	how.srcArray = (CUarray)src;
	how.srcXInBytes = x;
	how.srcY = y;
	how.dstMemoryType = memory_type(false, kind == cudaMemcpyDeviceToHost, kind);
	how.dstHost = dst;
	how.dstDevice = (CUdeviceptr)dst;
	how.dstPitch = pitch;
	return how;
}

RT_TWINS(cudaMemcpy2DToArray, _ptds,
	 (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
	  size_t height, enum cudaMemcpyKind kind),
	 (dst, x, y, src, pitch, width, height, kind))
{
	CUDA_MEMCPY2D how = to_array(dst, x, y, src, pitch, width, height, kind);

	return RT_CALL(drv->cuMemcpy2DUnaligned(&how));
}

RT_TWINS(cudaMemcpy2DToArrayAsync, _ptsz,
	 (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
	  size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	 (dst, x, y, src, pitch, width, height, kind, stream))
{
	CUDA_MEMCPY2D how = to_array(dst, x, y, src, pitch, width, height, kind);

	return RT_CALL(drv->cuMemcpy2DAsync(&how, stream));
}

RT_TWINS(cudaMemcpy2DFromArray, _ptds,
	 (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
	  size_t height, enum cudaMemcpyKind kind),
	 (dst, pitch, src, x, y, width, height, kind))
{
	CUDA_MEMCPY2D how = from_array(dst, pitch, src, x, y, width, height, kind);

	return RT_CALL(drv->cuMemcpy2DUnaligned(&how));
}

RT_TWINS(cudaMemcpy2DFromArrayAsync, _ptsz,
	 (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
	  size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	 (dst, pitch, src, x, y, width, height, kind, stream))
{
	CUDA_MEMCPY2D how = from_array(dst, pitch, src, x, y, width, height, kind);

	return RT_CALL(drv->cuMemcpy2DAsync(&how, stream));
}
