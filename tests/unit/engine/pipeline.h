/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection on which a simulated program asks for several things at once, as clients of Redis
 * do: the answers come in the order of what was asked.
 */
#ifndef CTXPROP_TEST_PIPELINE_H
#define CTXPROP_TEST_PIPELINE_H

#include <stdint.h>

#include "store.h"
#include "engine/engine.h"

#define PIPELINE_ASKS 512

struct pipeline {
	struct socket client;
	uint32_t asks; /* not answered yet */
	struct {
		uint32_t chain;
		uint64_t at;
	} ask[PIPELINE_ASKS];
};

/* `by` asks for something for a chain. Returns when the answer comes: in `delay` steps or later. */
uint64_t pipeline_ask(struct pipeline *p, const struct actor *by, uint32_t chain, uint64_t now,
		      uint64_t delay);

/* All answers that have come are read, if there are any. Returns how many, and for which chains. */
uint32_t pipeline_read(struct pipeline *p, const struct actor *by, uint64_t now,
		       uint32_t ret_chain[PIPELINE_ASKS]);

#endif
