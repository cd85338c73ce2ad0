/* The copy and fill entries of CUDA 2's 32-bit ABI: 32-bit device addresses and sizes. */
#include "driver_copy.h"

#define COPY(name, params, args, to, from, stream)                                                 \
	SIM_API(name, params, args)                                                                \
	{                                                                                          \
		return sim_copy_flat(to, from, ByteCount, stream);                                 \
	}

COPY(cuMemcpyHtoD, (CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount),
     (dstDevice, srcHost, ByteCount), SIM_DEVICE(dstDevice), SIM_HOST(srcHost), NULL)
COPY(cuMemcpyDtoH, (void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
     (dstHost, srcDevice, ByteCount), SIM_HOST(dstHost), SIM_DEVICE(srcDevice), NULL)
COPY(cuMemcpyDtoD, (CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
     (dstDevice, srcDevice, ByteCount), SIM_DEVICE(dstDevice), SIM_DEVICE(srcDevice), NULL)
COPY(cuMemcpyHtoDAsync,
     (CUdeviceptr_v1 dstDevice, const void *srcHost, unsigned int ByteCount, CUstream hStream),
     (dstDevice, srcHost, ByteCount, hStream), SIM_DEVICE(dstDevice), SIM_HOST(srcHost), hStream)
COPY(cuMemcpyDtoHAsync,
     (void *dstHost, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream),
     (dstHost, srcDevice, ByteCount, hStream), SIM_HOST(dstHost), SIM_DEVICE(srcDevice), hStream)
COPY(cuMemcpyDtoDAsync,
     (CUdeviceptr_v1 dstDevice, CUdeviceptr_v1 srcDevice, unsigned int ByteCount, CUstream hStream),
     (dstDevice, srcDevice, ByteCount, hStream), SIM_DEVICE(dstDevice), SIM_DEVICE(srcDevice),
     hStream)
COPY(cuMemcpyDtoA,
     (CUarray dstArray, unsigned int dstOffset, CUdeviceptr_v1 srcDevice, unsigned int ByteCount),
     (dstArray, dstOffset, srcDevice, ByteCount), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_DEVICE(srcDevice), NULL)
COPY(cuMemcpyAtoD,
     (CUdeviceptr_v1 dstDevice, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
     (dstDevice, srcArray, srcOffset, ByteCount), SIM_DEVICE(dstDevice),
     SIM_IN_ARRAY(srcArray, srcOffset), NULL)
COPY(cuMemcpyHtoA,
     (CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount),
     (dstArray, dstOffset, srcHost, ByteCount), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_HOST(srcHost), NULL)
COPY(cuMemcpyAtoH,
     (void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount),
     (dstHost, srcArray, srcOffset, ByteCount), SIM_HOST(dstHost),
     SIM_IN_ARRAY(srcArray, srcOffset), NULL)
COPY(cuMemcpyAtoA,
     (CUarray dstArray, unsigned int dstOffset, CUarray srcArray, unsigned int srcOffset,
      unsigned int ByteCount),
     (dstArray, dstOffset, srcArray, srcOffset, ByteCount), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_IN_ARRAY(srcArray, srcOffset), NULL)
COPY(cuMemcpyHtoAAsync,
     (CUarray dstArray, unsigned int dstOffset, const void *srcHost, unsigned int ByteCount,
      CUstream hStream),
     (dstArray, dstOffset, srcHost, ByteCount, hStream), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_HOST(srcHost), hStream)
COPY(cuMemcpyAtoHAsync,
     (void *dstHost, CUarray srcArray, unsigned int srcOffset, unsigned int ByteCount,
      CUstream hStream),
     (dstHost, srcArray, srcOffset, ByteCount, hStream), SIM_HOST(dstHost),
     SIM_IN_ARRAY(srcArray, srcOffset), hStream)

#define FILL(bits, type, letters)                                                                  \
	SIM_API(cuMemsetD##bits, (CUdeviceptr_v1 dstDevice, type letters, unsigned int N),         \
		(dstDevice, letters, N))                                                           \
	{                                                                                          \
		return sim_fill(dstDevice, 0, letters, bits / 8, N, 1, NULL);                      \
	}                                                                                          \
	SIM_API(cuMemsetD2D##bits,                                                                 \
		(CUdeviceptr_v1 dstDevice, unsigned int dstPitch, type letters,                    \
		 unsigned int Width, unsigned int Height),                                         \
		(dstDevice, dstPitch, letters, Width, Height))                                     \
	{                                                                                          \
		return sim_fill(dstDevice, dstPitch, letters, bits / 8, Width, Height, NULL);      \
	}

FILL(8, unsigned char, uc)
FILL(16, unsigned short, us)
FILL(32, unsigned int, ui)

/* The two forms of the struct have the same members in the same order, narrower. */
#define WIDEN(copy)                                                                                \
	.srcXInBytes = (copy)->srcXInBytes, .srcY = (copy)->srcY,                                  \
	.srcMemoryType = (copy)->srcMemoryType, .srcHost = (copy)->srcHost,                        \
	.srcDevice = (copy)->srcDevice, .srcArray = (copy)->srcArray,                              \
	.srcPitch = (copy)->srcPitch, .dstXInBytes = (copy)->dstXInBytes, .dstY = (copy)->dstY,    \
	.dstMemoryType = (copy)->dstMemoryType, .dstHost = (copy)->dstHost,                        \
	.dstDevice = (copy)->dstDevice, .dstArray = (copy)->dstArray,                              \
	.dstPitch = (copy)->dstPitch, .WidthInBytes = (copy)->WidthInBytes,                        \
	.Height = (copy)->Height

static CUresult copy_plane(const CUDA_MEMCPY2D_v1 *plane, CUstream stream)
{
	CUDA_MEMCPY3D copy;

	if (!plane)
		return CUDA_ERROR_INVALID_VALUE;
	copy = (CUDA_MEMCPY3D){ WIDEN(plane), .Depth = 1 };
	return sim_copy(&copy, stream);
}

static CUresult copy_box(const CUDA_MEMCPY3D_v1 *box, CUstream stream)
{
	CUDA_MEMCPY3D copy;

	if (!box)
		return CUDA_ERROR_INVALID_VALUE;
	copy = (CUDA_MEMCPY3D){
		WIDEN(box),	   .srcZ = box->srcZ,		.srcHeight = box->srcHeight,
		.dstZ = box->dstZ, .dstHeight = box->dstHeight, .Depth = box->Depth
	};
	return sim_copy(&copy, stream);
}

SIM_API(cuMemcpy2D, (const CUDA_MEMCPY2D_v1 *pCopy), (pCopy))
{
	return copy_plane(pCopy, NULL);
}

SIM_API(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D_v1 *pCopy), (pCopy))
{
	return copy_plane(pCopy, NULL);
}

SIM_API(cuMemcpy2DAsync, (const CUDA_MEMCPY2D_v1 *pCopy, CUstream hStream), (pCopy, hStream))
{
	return copy_plane(pCopy, hStream);
}

SIM_API(cuMemcpy3D, (const CUDA_MEMCPY3D_v1 *pCopy), (pCopy))
{
	return copy_box(pCopy, NULL);
}

SIM_API(cuMemcpy3DAsync, (const CUDA_MEMCPY3D_v1 *pCopy, CUstream hStream), (pCopy, hStream))
{
	return copy_box(pCopy, hStream);
}
