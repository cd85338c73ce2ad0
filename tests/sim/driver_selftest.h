/* What the parts of the driver's self-test share: finding entries, and checking claims. */
#ifndef GMT_TESTS_SIM_DRIVER_SELFTEST_H
#define GMT_TESTS_SIM_DRIVER_SELFTEST_H

#define __CUDA_API_VERSION_INTERNAL
#include <stddef.h>

#include <cuda.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* The primary context of device 0, after start(). */
extern CUcontext context;

_Noreturn void fail(const char *file, int line, const char *what);
void *entry(const char *name, const char *file, int line);
void open_driver(void);
void start(void);
/* Of device 0, by cuMemGetInfo. */
size_t used(void);
CUdeviceptr take(size_t bytes);

#define CHECK(claim)                                                                               \
	do {                                                                                       \
		if (!(claim))                                                                      \
			fail(__FILE__, __LINE__, #claim);                                          \
	} while (0)

#define ENTRY(name) entry(name, __FILE__, __LINE__)

/* Typed by cuda.h, found by dlsym. */
#define CU(name, ...) ((__typeof__(&name))ENTRY(#name))(__VA_ARGS__)
#define OK(name, ...) CHECK(CU(name, __VA_ARGS__) == CUDA_SUCCESS)

/* In driver_selftest_work.c. */
void copies_and_fills(void);
void times_are_simulated(void);
void kernels_run_and_are_seen(void);
void graph_memory_waits_for_the_trim(void);
void captures_become_graphs(void);

/* In driver_selftest_share.c. */
void handles_count_their_users(void);
void shared_memory_is_opened_once(void);
void arrays_take_memory(void);
void external_buffers_end_with_a_free(void);
void pools_can_be_shared(void);

#endif
