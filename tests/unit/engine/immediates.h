/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a simulated program of Node leaves for later in a turn: the numbers that Node gives, the
 * counts that libuv keeps, and what the probes make of them.
 */
#ifndef CTXPROP_TEST_IMMEDIATES_H
#define CTXPROP_TEST_IMMEDIATES_H

#include <stdbool.h>
#include <stdint.h>

#include "store.h"
#include "engine/engine.h"
#include "runtimes/node/later.h"

struct immediates {
	struct later later;
	struct later_counts counts;
	uint64_t number;  /* the last that was given */
	uint32_t delay;   /* turns from the first call of that kind until it is followed */
	bool is_wanted;   /* there was one */
	bool is_followed; /* it is */
};

/* The thread has read something. */
void immediates_read(struct immediates *im, const struct worker_key *thread);

/* Something else has happened that libuv counts. */
void immediates_miss(struct immediates *im);

/* The thread begins the response of a request. */
void immediates_respond(struct immediates *im, const struct worker_key *thread, uint64_t request);

/* Something is made. Returns its number. */
uint64_t immediates_make(struct immediates *im);

/* All is read that has come in this turn. */
void immediates_begin(struct immediates *im, const struct worker_key *thread);

/* What was left for later, and has this number, connects, or calls (by a tick of its own). */
enum actor_phase immediates_phase(struct immediates *im, const struct worker_key *thread,
				  uint64_t number, bool by_tick);

#endif
