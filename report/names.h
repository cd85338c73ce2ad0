/*
 * What a frame's names say: whose code it is, what the runtime's function is called. Pure.
 */
#ifndef GMT_REPORT_NAMES_H
#define GMT_REPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_code {
	GMT_CODE_USER,
	GMT_CODE_TRACER,  /* libgmtrace.so */
	GMT_CODE_DRIVER,  /* libcuda.so and what belongs to it */
	GMT_CODE_RUNTIME, /* the CUDA runtime, shared or linked in */
	GMT_CODE_VENDOR,  /* cuBLAS and the like */
	GMT_CODE_SYSTEM,  /* libc and the loader */
};

/* The part after the last slash; "" for NULL. */
const char *gmt_names_basename(const char *path);

/* Whose code a module is, by its file's name; a static runtime in it is not seen so. */
enum gmt_code gmt_names_module(const char *path);

/* Whether the function is one of the CUDA runtime's public ones. */
bool gmt_names_public_runtime(const char *name, size_t bytes);

/*
 * The base name of a C function or of a mangled C++ one at global scope, without template
 * arguments and without suffixes (.part.0, _ptsz): what the user wrote, "cudaMalloc". Writes at
 * most room bytes; the result is "" if there is none.
 */
void gmt_names_base(const char *raw, char *out, size_t room);

/* Whether a function of this name is the runtime's, whatever module it lies in. */
bool gmt_names_runtime(const char *raw);

/* Same for a name that only looks so: certain where the runtime is known to lie. */
bool gmt_names_runtime_like(const char *raw);

/* Whether the source file is a library's header, whose templates live in the user's module. */
bool gmt_names_library_header(const char *file);

/* Whether the function starts a process or a thread: nothing outside it is the user's. */
bool gmt_names_start(const char *raw);

/* Bytes of raw without the compiler's suffixes .cold, .part.N, .isra.N, .constprop.N, .lto_priv.N.
 */
size_t gmt_names_stem(const char *raw);

#endif
