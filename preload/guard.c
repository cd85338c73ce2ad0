/* Owns the one thread-local variable of the recorder. */
#include "preload/guard.h"

GMT_TLS int gmt_guard_depth;
