/*
 * A library of exits.sh, preloaded: it uses the driver before the tracer's constructor has run, and
 * in its destructor, after the program's exit handlers. EXITS_BY says how it then ends the process.
 */
/* links: cuda */
#include <cuda.h>

#include "program.h"

static CUdeviceptr kept, freed;

__attribute__((constructor)) static void open_library(void)
{
	CUcontext context;
	CUdevice device;

	if (!getenv("EXITS_BY"))
		return;
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuCtxSetCurrent(context));
	MUST(cuMemAlloc(&kept, 1000));
	MUST(cuMemAlloc(&freed, 2000));
	if (strcmp(getenv("EXITS_BY"), "constructor") == 0)
		exit(0);
}

__attribute__((destructor)) static void close_library(void)
{
	const char *how = getenv("EXITS_BY");
	CUdeviceptr late;

	if (!how)
		return;
	MUST(cuMemFree(freed));
	MUST(cuMemAlloc(&late, 4000));
	if (strcmp(how, "exit") == 0)
		exit(8);
	if (strcmp(how, "_exit") == 0)
		_exit(9);
}
