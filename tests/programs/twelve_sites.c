/* case: what cannot fit ten lines is counted in the last: leaks of twelve functions */
#include <cuda_runtime_api.h>

#include "program.h"

#define LEAK(name, bytes)                                                                          \
	static void name(void)                                                                     \
	{                                                                                          \
		void *memory;                                                                      \
                                                                                                   \
		MUST(cudaMalloc(&memory, bytes));                                                  \
	}

LEAK(first, 1200)
LEAK(second, 1100)
LEAK(third, 1000)
LEAK(fourth, 900)
LEAK(fifth, 800)
LEAK(sixth, 700)
LEAK(seventh, 600)
LEAK(eighth, 500)
LEAK(ninth, 400)
LEAK(tenth, 300)
LEAK(eleventh, 200)
LEAK(twelfth, 100)

int main(void)
{
	void (*const all[])(void) = { first,   second, third, fourth, fifth,	sixth,
				      seventh, eighth, ninth, tenth,  eleventh, twelfth };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i]();
	return 0;
}
