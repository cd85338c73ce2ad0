/* The one thing that only the C++ library can do. */
#include <cxxabi.h>

extern "C" char *gmt_demangle(const char *raw)
{
	int status = 0;

	if (raw[0] != '_' || raw[1] != 'Z')
		return nullptr;
	return abi::__cxa_demangle(raw, nullptr, nullptr, &status);
}
