/*
 * Times one workload in this process: pairs WORKLOAD DEPTH COUNT, prints nanoseconds per operation.
 * async: cudaMallocAsync + cudaFreeAsync of 512 B; malloc: cudaMalloc + cudaFree of 512 B with
 * 20,000 live; live: COUNT blocks of 512 B from 1,000 sites that stay live (for the report's cost).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void async_pairs(long count)
{
	for (long i = 0; i < count; i++) {
		void *block;

		if (cudaMallocAsync(&block, 512, 0) != cudaSuccess ||
		    cudaFreeAsync(block, 0) != cudaSuccess)
			abort();
	}
}

static void malloc_pairs(long count)
{
	for (long i = 0; i < count; i++) {
		void *block;

		if (cudaMalloc(&block, 512) != cudaSuccess || cudaFree(block) != cudaSuccess)
			abort();
	}
}

/* A thousand functions, and so a thousand sites: site_000 to site_999. */
#define TENS(a, b)                                                                                 \
	MAKE(a, b, 0)                                                                              \
	MAKE(a, b, 1)                                                                              \
	MAKE(a, b, 2)                                                                              \
	MAKE(a, b, 3)                                                                              \
	MAKE(a, b, 4) MAKE(a, b, 5) MAKE(a, b, 6) MAKE(a, b, 7) MAKE(a, b, 8) MAKE(a, b, 9)
#define HUNDRED(a)                                                                                 \
	TENS(a, 0)                                                                                 \
	TENS(a, 1)                                                                                 \
	TENS(a, 2) TENS(a, 3) TENS(a, 4) TENS(a, 5) TENS(a, 6) TENS(a, 7) TENS(a, 8) TENS(a, 9)
#define THOUSAND                                                                                   \
	HUNDRED(0)                                                                                 \
	HUNDRED(1)                                                                                 \
	HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)

/* Equal functions would be made one, unless something in them differs. */
#define MAKE(a, b, c)                                                                              \
	static __attribute__((noinline)) void site_##a##b##c(void)                                 \
	{                                                                                          \
		void *block;                                                                       \
                                                                                                   \
		if (cudaMalloc(&block, 512) != cudaSuccess)                                        \
			abort();                                                                   \
		__asm__ volatile("# %0" : : "i"(__COUNTER__));                                     \
	}
THOUSAND
#undef MAKE

static void live_blocks(long count)
{
#define MAKE(a, b, c) site_##a##b##c,
	static void (*const sites[])(void) = { THOUSAND };

	for (long i = 0; i < count; i++)
		sites[i % 1000]();
}

static void (*work)(long);

static __attribute__((noinline)) void at_depth(int depth, long count)
{
	if (depth <= 0) {
		work(count);
		return;
	}
	at_depth(depth - 1, count);
	/* Keeps the frame: no tail call. */
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const char *workload = argc > 1 ? argv[1] : "async";
	int depth = argc > 2 ? atoi(argv[2]) : 10;
	long count = argc > 3 ? atol(argv[3]) : 100000;
	void *warm;
	double started;

	if (cudaMalloc(&warm, 512) != cudaSuccess)
		return 1;
	work = strcmp(workload, "malloc") == 0 ? malloc_pairs
	       : strcmp(workload, "live") == 0 ? live_blocks
					       : async_pairs;
	for (int i = 0; work == malloc_pairs && i < 20000; i++)
		if (cudaMalloc(&warm, 512) != cudaSuccess)
			return 1;
	/* main, the workload and the runtime's two frames count as four. */
	if (work != live_blocks)
		at_depth(depth - 4, 2000);
	started = now_ns();
	at_depth(depth - 4, count);
	printf("%.1f\n", (now_ns() - started) / (double)count);
	return 0;
}
