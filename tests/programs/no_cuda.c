/* case: a program without CUDA is left alone: nothing is printed, no file is written */
/* links: none */
#include <stdio.h>

int main(void)
{
	puts("no CUDA here");
	return 0;
}
