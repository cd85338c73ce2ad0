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

/* 1,000 sites: two calls deep, each level one of 10 or 100 distinct call instructions. */
#define TEN(x)	   x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9)
#define HUNDRED(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x)

static void *volatile sink;

/* Of many equal calls the compiler would make one, unless the code around them differs. */
#define APART() __asm__ volatile("# %0" : : "i"(__COUNTER__))

static __attribute__((noinline)) void leaf(int which)
{
	void *block;
	int at = 0;

#define CALL(n)                                                                                    \
	if (which == at++) {                                                                       \
		if (cudaMalloc(&block, 512) != cudaSuccess)                                        \
			abort();                                                                   \
		sink = block;                                                                      \
		APART();                                                                           \
	}
	HUNDRED(CALL)
}

static __attribute__((noinline)) void branch(int which)
{
	int at = 0;

#define BRANCH(n)                                                                                  \
	if (which % 10 == at++) {                                                                  \
		leaf(which / 10);                                                                  \
		APART();                                                                           \
	}
	TEN(BRANCH)
}

static void live_blocks(long count)
{
	for (long i = 0; i < count; i++)
		branch((int)(i % 1000));
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
	work = strcmp(workload, "malloc") == 0 ? malloc_pairs :
	       strcmp(workload, "live") == 0   ? live_blocks :
						 async_pairs;
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
