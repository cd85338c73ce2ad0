/* What the test programs share: a failure that has no part in the case ends the program. */
#ifndef GMT_TESTS_PROGRAM_H
#define GMT_TESTS_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* The call's success is 0 in the runtime's and in the driver's API. */
#define MUST(call)                                                                                 \
	do {                                                                                       \
		int must_rc = (int)(call);                                                         \
		if (must_rc != 0) {                                                                \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call,        \
				must_rc);                                                          \
			exit(99);                                                                  \
		}                                                                                  \
	} while (0)

#define EXPECT(claim)                                                                              \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);        \
			exit(98);                                                                  \
		}                                                                                  \
	} while (0)

#endif
