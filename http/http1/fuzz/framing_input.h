/* SPDX-License-Identifier: Apache-2.0 */
/* How an input of the fuzz target `framing` is laid out. */
#ifndef CTXPROP_FUZZ_FRAMING_INPUT_H
#define CTXPROP_FUZZ_FRAMING_INPUT_H

#include <stdint.h>

#define FRAMING_CUTS 6

/* The stream follows. */
struct framing_input {
	uint8_t kind; /* bit 0: responses; 1: step through bodies; 2: scan */
	uint8_t reserved;
	uint16_t answers;                /* as in struct run_input */
	uint16_t distance[FRAMING_CUTS]; /* bytes between two cuts, the first from the start */
};
_Static_assert(sizeof(struct framing_input) == 16, "inputs are kept");

#endif
