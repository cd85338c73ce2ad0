/*
 * The copy and fill entries of 64-bit ABI. All become one CUDA_MEMCPY3D or one fill. The 32-bit
 * ABI is in driver_copy_v1.c.
 */
#include "driver_copy.h"

CUresult sim_copy(const CUDA_MEMCPY3D *copy, CUstream handle)
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = *copy };
	struct sim_stream *stream;
	CUresult rc = sim_stream_for_work(handle, &stream);

	if (rc == CUDA_SUCCESS)
		rc = sim_work_check(&work);
	return rc == CUDA_SUCCESS ? sim_submit(stream, &work) : rc;
}

CUresult sim_copy_flat(struct sim_end to, struct sim_end from, size_t bytes, CUstream stream)
{
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = from.type,
		.srcHost = from.host,
		.srcDevice = from.device,
		.srcArray = from.array,
		.srcXInBytes = from.offset,
		.dstMemoryType = to.type,
		.dstHost = (void *)(uintptr_t)to.host,
		.dstDevice = to.device,
		.dstArray = to.array,
		.dstXInBytes = to.offset,
		.WidthInBytes = bytes,
		.Height = 1,
		.Depth = 1,
	};

	return sim_copy(&copy, stream);
}

CUresult sim_fill(CUdeviceptr dst, size_t pitch, unsigned int value, unsigned int element,
		  size_t width, size_t height, CUstream handle)
{
	struct sim_work work = { .type = CU_GRAPH_NODE_TYPE_MEMSET,
				 .set = { dst, pitch, value, element, width, height } };
	struct sim_stream *stream;
	CUresult rc = sim_stream_for_work(handle, &stream);

	if (rc == CUDA_SUCCESS)
		rc = sim_work_check(&work);
	return rc == CUDA_SUCCESS ? sim_submit(stream, &work) : rc;
}

/* A flat copy, without and with a stream. */
#define COPY(name, suffix, params, args, to, from)                                                 \
	SIM_API_TWIN(name, suffix, params, args)                                                   \
	{                                                                                          \
		return sim_copy_flat(to, from, ByteCount, NULL);                                   \
	}

#define COPY_ASYNC(name, params, args, to, from)                                                   \
	SIM_API_TWIN(name, _ptsz, params, args)                                                    \
	{                                                                                          \
		return sim_copy_flat(to, from, ByteCount, hStream);                                \
	}

COPY(cuMemcpy, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), (dst, src, ByteCount),
     SIM_ANY(dst), SIM_ANY(src))
COPY_ASYNC(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
	   (dst, src, ByteCount, hStream), SIM_ANY(dst), SIM_ANY(src))
COPY(cuMemcpyPeer, _ptds,
     (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
      size_t ByteCount),
     (dstDevice, dstContext, srcDevice, srcContext, ByteCount), SIM_DEVICE(dstDevice),
     SIM_DEVICE(srcDevice))
COPY_ASYNC(cuMemcpyPeerAsync,
	   (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
	    CUcontext srcContext, size_t ByteCount, CUstream hStream),
	   (dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream),
	   SIM_DEVICE(dstDevice), SIM_DEVICE(srcDevice))
COPY(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
     (dstDevice, srcHost, ByteCount), SIM_DEVICE(dstDevice), SIM_HOST(srcHost))
COPY_ASYNC(cuMemcpyHtoDAsync_v2,
	   (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
	   (dstDevice, srcHost, ByteCount, hStream), SIM_DEVICE(dstDevice), SIM_HOST(srcHost))
COPY(cuMemcpyDtoH_v2, _ptds, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
     (dstHost, srcDevice, ByteCount), SIM_HOST(dstHost), SIM_DEVICE(srcDevice))
COPY_ASYNC(cuMemcpyDtoHAsync_v2,
	   (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
	   (dstHost, srcDevice, ByteCount, hStream), SIM_HOST(dstHost), SIM_DEVICE(srcDevice))
COPY(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
     (dstDevice, srcDevice, ByteCount), SIM_DEVICE(dstDevice), SIM_DEVICE(srcDevice))
COPY_ASYNC(cuMemcpyDtoDAsync_v2,
	   (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
	   (dstDevice, srcDevice, ByteCount, hStream), SIM_DEVICE(dstDevice), SIM_DEVICE(srcDevice))
COPY(cuMemcpyDtoA_v2, _ptds,
     (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
     (dstArray, dstOffset, srcDevice, ByteCount), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_DEVICE(srcDevice))
COPY(cuMemcpyAtoD_v2, _ptds,
     (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     (dstDevice, srcArray, srcOffset, ByteCount), SIM_DEVICE(dstDevice),
     SIM_IN_ARRAY(srcArray, srcOffset))
COPY(cuMemcpyHtoA_v2, _ptds,
     (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
     (dstArray, dstOffset, srcHost, ByteCount), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_HOST(srcHost))
COPY_ASYNC(cuMemcpyHtoAAsync_v2,
	   (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
	    CUstream hStream),
	   (dstArray, dstOffset, srcHost, ByteCount, hStream), SIM_IN_ARRAY(dstArray, dstOffset),
	   SIM_HOST(srcHost))
COPY(cuMemcpyAtoH_v2, _ptds, (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     (dstHost, srcArray, srcOffset, ByteCount), SIM_HOST(dstHost),
     SIM_IN_ARRAY(srcArray, srcOffset))
COPY_ASYNC(cuMemcpyAtoHAsync_v2,
	   (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream),
	   (dstHost, srcArray, srcOffset, ByteCount, hStream), SIM_HOST(dstHost),
	   SIM_IN_ARRAY(srcArray, srcOffset))
COPY(cuMemcpyAtoA_v2, _ptds,
     (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     (dstArray, dstOffset, srcArray, srcOffset, ByteCount), SIM_IN_ARRAY(dstArray, dstOffset),
     SIM_IN_ARRAY(srcArray, srcOffset))

static CUresult copy_plane(const CUDA_MEMCPY2D *plane, CUstream stream)
{
	CUDA_MEMCPY3D copy;

	if (!plane)
		return CUDA_ERROR_INVALID_VALUE;
	copy = (CUDA_MEMCPY3D){
		.srcXInBytes = plane->srcXInBytes,
		.srcY = plane->srcY,
		.srcMemoryType = plane->srcMemoryType,
		.srcHost = plane->srcHost,
		.srcDevice = plane->srcDevice,
		.srcArray = plane->srcArray,
		.srcPitch = plane->srcPitch,
		.dstXInBytes = plane->dstXInBytes,
		.dstY = plane->dstY,
		.dstMemoryType = plane->dstMemoryType,
		.dstHost = plane->dstHost,
		.dstDevice = plane->dstDevice,
		.dstArray = plane->dstArray,
		.dstPitch = plane->dstPitch,
		.WidthInBytes = plane->WidthInBytes,
		.Height = plane->Height,
		.Depth = 1,
	};
	return sim_copy(&copy, stream);
}

SIM_API_TWIN(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *pCopy), (pCopy))
{
	return copy_plane(pCopy, NULL);
}

SIM_API_TWIN(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *pCopy), (pCopy))
{
	return copy_plane(pCopy, NULL);
}

SIM_API_TWIN(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *pCopy, CUstream hStream),
	     (pCopy, hStream))
{
	return copy_plane(pCopy, hStream);
}

SIM_API_TWIN(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *pCopy), (pCopy))
{
	return pCopy ? sim_copy(pCopy, NULL) : CUDA_ERROR_INVALID_VALUE;
}

SIM_API_TWIN(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *pCopy, CUstream hStream),
	     (pCopy, hStream))
{
	return pCopy ? sim_copy(pCopy, hStream) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_between(const CUDA_MEMCPY3D_PEER *peer, CUstream stream)
{
	CUDA_MEMCPY3D copy;

	if (!peer)
		return CUDA_ERROR_INVALID_VALUE;
	copy = (CUDA_MEMCPY3D){
		.srcXInBytes = peer->srcXInBytes,
		.srcY = peer->srcY,
		.srcZ = peer->srcZ,
		.srcMemoryType = peer->srcMemoryType,
		.srcHost = peer->srcHost,
		.srcDevice = peer->srcDevice,
		.srcArray = peer->srcArray,
		.srcPitch = peer->srcPitch,
		.srcHeight = peer->srcHeight,
		.dstXInBytes = peer->dstXInBytes,
		.dstY = peer->dstY,
		.dstZ = peer->dstZ,
		.dstMemoryType = peer->dstMemoryType,
		.dstHost = peer->dstHost,
		.dstDevice = peer->dstDevice,
		.dstArray = peer->dstArray,
		.dstPitch = peer->dstPitch,
		.dstHeight = peer->dstHeight,
		.WidthInBytes = peer->WidthInBytes,
		.Height = peer->Height,
		.Depth = peer->Depth,
	};
	return sim_copy(&copy, stream);
}

SIM_API_TWIN(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *pCopy), (pCopy))
{
	return copy_between(pCopy, NULL);
}

SIM_API_TWIN(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream),
	     (pCopy, hStream))
{
	return copy_between(pCopy, hStream);
}

static CUresult copy_batch(CUdeviceptr *to, CUdeviceptr *from, const size_t *sizes, size_t count,
			   size_t *fail, CUstream stream)
{
	for (size_t i = 0; i < count; i++) {
		CUresult rc = sim_copy_flat(SIM_ANY(to[i]), SIM_ANY(from[i]), sizes[i], stream);

		if (rc != CUDA_SUCCESS) {
			*fail = i;
			return rc;
		}
	}
	return CUDA_SUCCESS;
}

SIM_API_TWIN(cuMemcpyBatchAsync, _ptsz,
	     (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
	      CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
	      CUstream hStream),
	     (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream))
{
	size_t ignored;

	return copy_batch(dsts, srcs, sizes, count, failIdx ? failIdx : &ignored, hStream);
}

SIM_API_TWIN(cuMemcpyBatchAsync_v2, _ptsz,
	     (CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
	      CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream),
	     (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream))
{
	size_t ignored;

	return copy_batch(dsts, srcs, sizes, count, &ignored, hStream);
}

#define FILL(bits, type, letters)                                                                  \
	SIM_API_TWIN(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr dstDevice, type letters, size_t N), \
		     (dstDevice, letters, N))                                                      \
	{                                                                                          \
		return sim_fill(dstDevice, 0, letters, bits / 8, N, 1, NULL);                      \
	}                                                                                          \
	SIM_API_TWIN(cuMemsetD##bits##Async, _ptsz,                                                \
		     (CUdeviceptr dstDevice, type letters, size_t N, CUstream hStream),            \
		     (dstDevice, letters, N, hStream))                                             \
	{                                                                                          \
		return sim_fill(dstDevice, 0, letters, bits / 8, N, 1, hStream);                   \
	}                                                                                          \
	SIM_API_TWIN(cuMemsetD2D##bits##_v2, _ptds,                                                \
		     (CUdeviceptr dstDevice, size_t dstPitch, type letters, size_t Width,          \
		      size_t Height),                                                              \
		     (dstDevice, dstPitch, letters, Width, Height))                                \
	{                                                                                          \
		return sim_fill(dstDevice, dstPitch, letters, bits / 8, Width, Height, NULL);      \
	}                                                                                          \
	SIM_API_TWIN(cuMemsetD2D##bits##Async, _ptsz,                                              \
		     (CUdeviceptr dstDevice, size_t dstPitch, type letters, size_t Width,          \
		      size_t Height, CUstream hStream),                                            \
		     (dstDevice, dstPitch, letters, Width, Height, hStream))                       \
	{                                                                                          \
		return sim_fill(dstDevice, dstPitch, letters, bits / 8, Width, Height, hStream);   \
	}

FILL(8, unsigned char, uc)
FILL(16, unsigned short, us)
FILL(32, unsigned int, ui)
