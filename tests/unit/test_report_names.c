/* What names of modules and functions tell. */
#include <string.h>

#include "report/names.h"
#include "tests/test.h"

static bool base_is(const char *raw, const char *base)
{
	char out[128];

	gmt_names_base(raw, out, sizeof(out));
	return strcmp(out, base) == 0;
}

TEST(names_know_whose_a_module_is)
{
	CHECK(gmt_names_module("/usr/lib/libcuda.so.1") == GMT_CODE_DRIVER);
	CHECK(gmt_names_module("/usr/lib/libcuda.so.580.159") == GMT_CODE_DRIVER);
	CHECK(gmt_names_module("libcudart.so.13") == GMT_CODE_RUNTIME);
	CHECK(gmt_names_module("/venv/libcudart-d0da41ae.so.11.0") == GMT_CODE_RUNTIME);
	CHECK(gmt_names_module("/x/libcublasLt.so.13") == GMT_CODE_VENDOR);
	CHECK(gmt_names_module("/x/libcudnn_ops.so.9") == GMT_CODE_VENDOR);
	CHECK(gmt_names_module("/lib/libc.so.6") == GMT_CODE_SYSTEM);
	CHECK(gmt_names_module("/lib64/ld-linux-x86-64.so.2") == GMT_CODE_SYSTEM);
	CHECK(gmt_names_module("/x/libgmtrace.so") == GMT_CODE_TRACER);
	CHECK(gmt_names_module("/x/libcublas_wrapper.so") == GMT_CODE_USER);
	CHECK(gmt_names_module("/x/libcudafoo.so") == GMT_CODE_USER);
	CHECK(gmt_names_module("/x/libcuda.so.1/app") == GMT_CODE_USER);
	CHECK(gmt_names_module(NULL) == GMT_CODE_USER);
	return TEST_PASS;
}

TEST(names_are_brought_down_to_what_the_user_wrote)
{
	CHECK(base_is("cudaMalloc", "cudaMalloc"));
	CHECK(base_is("cudaMallocAsync_ptsz", "cudaMallocAsync"));
	CHECK(base_is("cudaMemcpy_ptds", "cudaMemcpy"));
	CHECK(base_is("cudaGetDeviceProperties_v2", "cudaGetDeviceProperties"));
	CHECK(base_is("cudaMalloc.part.0", "cudaMalloc"));
	CHECK(base_is("cudaMalloc<float>", "cudaMalloc"));
	CHECK(base_is("_ZL10cudaMallocIiE9cudaErrorPPT_m", "cudaMalloc"));
	CHECK(base_is("_Z10cudaMallocIfE9cudaErrorPPT_m", "cudaMalloc"));
	CHECK(base_is("_ZL14cudaMallocHostPPvmj", "cudaMallocHost"));
	CHECK(base_is("_ZN2at4cuda9allocatorEv", ""));
	CHECK(base_is("_Z", ""));
	CHECK(base_is("_Z99999999999999999999cuda", ""));
	CHECK(base_is("_Z50cudaMalloc", ""));
	CHECK(base_is("", ""));
	return TEST_PASS;
}

TEST(names_know_the_runtime_by_its_functions)
{
	CHECK(gmt_names_runtime("cudaMalloc"));
	CHECK(gmt_names_runtime("cudaMallocAsync_ptsz"));
	CHECK(gmt_names_runtime("__cudaRegisterFatBinary"));
	CHECK(gmt_names_runtime("_cudaPushCallConfiguration"));
	CHECK(gmt_names_runtime("libcudart_static_da0dce49aa58ac53"));
	CHECK(gmt_names_runtime("_ZL10cudaMallocIiE9cudaErrorPPT_m"));
	CHECK(!gmt_names_runtime("cudaMallocOrDie"));
	CHECK(!gmt_names_runtime("cudaMallo"));
	CHECK(!gmt_names_runtime("cudamalloc"));
	CHECK(!gmt_names_runtime("my_cudaMalloc"));
	CHECK(!gmt_names_runtime("_ZN3foo10cudaMallocEv"));
	CHECK(!gmt_names_runtime("_"));
	CHECK(!gmt_names_runtime(""));
	return TEST_PASS;
}

TEST(names_lose_the_suffixes_of_the_compiler)
{
	CHECK(gmt_names_stem("work") == 4);
	CHECK(gmt_names_stem("work.cold") == 4);
	CHECK(gmt_names_stem("work.part.0.isra.0") == 4);
	CHECK(gmt_names_stem("work.constprop.0.cold") == 4);
	CHECK(gmt_names_stem(".cold") == 5);
	CHECK(gmt_names_stem("") == 0);
	return TEST_PASS;
}
