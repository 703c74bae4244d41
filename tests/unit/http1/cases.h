/* SPDX-License-Identifier: Apache-2.0 */
/* Streams with the events that framing is to find in them; see marked.h for the notation. */
#ifndef CTXPROP_TEST_CASES_H
#define CTXPROP_TEST_CASES_H

#include <stddef.h>
#include <stdint.h>

struct framing_case {
	const char *name;
	const char *text;
	uint16_t answers; /* as in struct run_input */
};

extern const struct framing_case request_cases[];
extern const size_t request_case_count;

extern const struct framing_case response_cases[];
extern const size_t response_case_count;

#endif
