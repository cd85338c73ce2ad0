/* Names and texts of the runtime's errors; no driver is needed for them. */
#include "tests/sim/runtime.h"

static const struct {
	cudaError_t code;
	const char *name;
	const char *text;
} errors[] = {
#define RT_ERROR(name, text) { name, #name, text },
#include "tests/sim/runtime_errors.def"
#undef RT_ERROR
};

#define NR_ERRORS (sizeof(errors) / sizeof(*errors))

const char *cudaGetErrorName(cudaError_t code)
{
	for (size_t i = 0; i < NR_ERRORS; i++) {
		if (errors[i].code == code)
			return errors[i].name;
	}
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
	for (size_t i = 0; i < NR_ERRORS; i++) {
		if (errors[i].code == code)
			return errors[i].text;
	}
	return "unrecognized error code";
}
