/* Owns what is known about names of modules and functions. */
#include "report/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *gmt_names_basename(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* "libcublas" names libcublas.so.13, libcublas-1a2b3c4d.so (as wheels call it), not libcublasLt. */
static bool library(const char *name, const char *stem)
{
	size_t bytes = strlen(stem);

	if (strncmp(name, stem, bytes) != 0)
		return false;
	return strncmp(name + bytes, ".so", 3) == 0 ||
	       (name[bytes] == '-' && strstr(name + bytes, ".so"));
}

enum gmt_code gmt_names_module(const char *path)
{
	static const struct {
		enum gmt_code code;
		const char *stem;
	} libraries[] = {
		{ GMT_CODE_TRACER, "libgmtrace" },
		{ GMT_CODE_DRIVER, "libcuda" },
		{ GMT_CODE_DRIVER, "libcudadebugger" },
		{ GMT_CODE_DRIVER, "libnvidia-ptxjitcompiler" },
		{ GMT_CODE_RUNTIME, "libcudart" },
		{ GMT_CODE_SYSTEM, "libc" },
		{ GMT_CODE_SYSTEM, "libpthread" },
		{ GMT_CODE_SYSTEM, "ld-linux-x86-64" },
		{ GMT_CODE_SYSTEM, "ld-linux-aarch64" },
		{ GMT_CODE_VENDOR, "libcublas" },
		{ GMT_CODE_VENDOR, "libcublasLt" },
		{ GMT_CODE_VENDOR, "libnvblas" },
		{ GMT_CODE_VENDOR, "libcufft" },
		{ GMT_CODE_VENDOR, "libcufftw" },
		{ GMT_CODE_VENDOR, "libcurand" },
		{ GMT_CODE_VENDOR, "libcusolver" },
		{ GMT_CODE_VENDOR, "libcusolverMg" },
		{ GMT_CODE_VENDOR, "libcusparse" },
		{ GMT_CODE_VENDOR, "libcusparseLt" },
		{ GMT_CODE_VENDOR, "libcutensor" },
		{ GMT_CODE_VENDOR, "libcufile" },
		{ GMT_CODE_VENDOR, "libcupti" },
		{ GMT_CODE_VENDOR, "libnccl" },
		{ GMT_CODE_VENDOR, "libnvrtc" },
		{ GMT_CODE_VENDOR, "libnvJitLink" },
		{ GMT_CODE_VENDOR, "libnvjpeg" },
		{ GMT_CODE_VENDOR, "libnvfatbin" },
		{ GMT_CODE_VENDOR, "libnvonnxparser" },
	};
	/* Families with many members: libcudnn_ops, libnppial, libnvinfer_plugin. */
	static const char *const families[] = { "libcudnn", "libnpp", "libnvinfer", "libnvshmem" };
	const char *name = gmt_names_basename(path);

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (library(name, libraries[i].stem))
			return libraries[i].code;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (begins(name, families[i]) && strstr(name, ".so"))
			return GMT_CODE_VENDOR;
	return GMT_CODE_USER;
}

static bool ends(const char *text, size_t bytes, const char *tail)
{
	size_t tail_bytes = strlen(tail);

	return bytes > tail_bytes && memcmp(text + bytes - tail_bytes, tail, tail_bytes) == 0;
}

/* _Z10cudaMallocIfE..., _ZL10cudaMallocIfE...: the source name, and its length in *bytes. */
static const char *source_name(const char *mangled, size_t *bytes)
{
	const char *at = mangled + 2 + (mangled[2] == 'L');
	size_t length = 0;

	for (; isdigit((unsigned char)*at) && length < 4096; at++)
		length = length * 10 + (size_t)(*at - '0');
	*bytes = length;
	return length && strnlen(at, length) == length ? at : NULL;
}

void gmt_names_base(const char *raw, char *out, size_t room)
{
	static const char *const twins[] = { "_ptsz", "_ptds" };
	size_t bytes;

	out[0] = '\0';
	if (begins(raw, "_Z")) {
		raw = source_name(raw, &bytes);
		if (!raw)
			return;
	} else {
		/* "cudaMalloc<float>" is how DWARF names an instance of a template. */
		bytes = strcspn(raw, "<(.@ ");
	}
	for (size_t i = 0; i < 2; i++)
		if (ends(raw, bytes, twins[i]))
			bytes -= strlen(twins[i]);
	while (bytes > 3 && raw[bytes - 3] == '_' && raw[bytes - 2] == 'v' &&
	       isdigit((unsigned char)raw[bytes - 1]))
		bytes -= 3;
	snprintf(out, room, "%.*s", (int)bytes, raw);
}

static bool cuda_like(const char *name)
{
	return begins(name, "cuda") && isupper((unsigned char)name[4]);
}

bool gmt_names_runtime(const char *raw)
{
	char base[256];

	if (begins(raw, "libcudart_static_"))
		return true;
	if (raw[0] == '_' && cuda_like(raw + 1 + (raw[1] == '_')))
		return true;
	gmt_names_base(raw, base, sizeof(base));
	return cuda_like(base) && gmt_names_public_runtime(base, strlen(base));
}

bool gmt_names_runtime_like(const char *raw)
{
	char base[256];

	gmt_names_base(raw, base, sizeof(base));
	return cuda_like(base);
}

bool gmt_names_library_header(const char *file)
{
	static const char *const places[] = { "/include/c++/", "/include/thrust/", "/include/cub/",
					      "/include/cuda/", "/include/rmm/" };

	if (!file)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strstr(file, places[i]))
			return true;
	return begins(file, "/usr/include/") || begins(file, "/usr/lib/");
}

bool gmt_names_start(const char *raw)
{
	static const char *const exact[] = { "_start",	"start_thread", "clone",       "clone3",
					     "__clone", "__clone3",	"thread_start" };

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (strcmp(raw, exact[i]) == 0)
			return true;
	return begins(raw, "__libc_start_") || begins(raw, "__libc_csu_");
}

size_t gmt_names_stem(const char *raw)
{
	static const char *const suffixes[] = { ".cold",       ".part.",     ".isra.",
						".constprop.", ".lto_priv.", ".llvm." };
	size_t stem = strlen(raw);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *found = strstr(raw + (*raw != '\0'), suffixes[i]);

		if (found && (size_t)(found - raw) < stem)
			stem = (size_t)(found - raw);
	}
	return stem;
}
