/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_TEST_EXPECTATIONS_H
#define CTXPROP_TEST_EXPECTATIONS_H

#include "program.h"

#define EXPECTATIONS 71
#define LEVELS       6 /* numbers of requests in flight */

/* A program, and the least part of its calls (percent) that is right, by requests in flight. */
struct expectation {
	const char *name;
	struct program program;
	uint32_t right[LEVELS];
};

extern const struct expectation expectations[EXPECTATIONS];

#endif
