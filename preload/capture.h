/*
 * Whether a stream is being captured into a graph: what is allocated there is no memory yet, and
 * what is freed there is still live. Included after <cuda.h>.
 */
#ifndef GMT_PRELOAD_CAPTURE_H
#define GMT_PRELOAD_CAPTURE_H

#include <stdbool.h>
#include <string.h>

/* Costs a load while no capture is open anywhere in the process. */
bool gmt_capture_is_on(CUstream stream);

/* Of an entry for per-thread streams, the stream 0 is the thread's own. */
static inline CUstream gmt_capture_stream(CUstream stream, const char *symbol)
{
	size_t bytes = strlen(symbol);

	if (!stream && bytes > 5 && strcmp(symbol + bytes - 5, "_ptsz") == 0)
		return CU_STREAM_PER_THREAD;
	return stream;
}

#endif
