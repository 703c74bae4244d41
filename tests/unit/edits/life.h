/* SPDX-License-Identifier: Apache-2.0 */
/* Random lives of a connection: the edit model (bpf/edits.h) beside two streams that are kept
 * whole. */
#ifndef CTXPROP_TEST_EDITS_LIFE_H
#define CTXPROP_TEST_EDITS_LIFE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "edits.h"
#include "model.h"
#include "../random.h"

#define LIFE_STEPS 60

/* One life of a connection: the code under test beside the model. */
struct life {
	struct random random;
	uint64_t seed;
	struct edits edits;
	struct model *model;
	uint32_t made;              /* edits that were recorded, */
	uint32_t place[LIFE_STEPS]; /* and the app offset of each */
	uint32_t acked; /* wire offset: highest acknowledgement; edits before it have retired */
	uint8_t receiver[MODEL_WIRE_MAX]; /* what the peer has, by wire offset */
};

#define expect(life, what, got, want)                                                              \
	do {                                                                                       \
		uint32_t got_ = (got), want_ = (want);                                             \
		if (got_ != want_)                                                                 \
			fail_msg("seed %llu, %s:%d: %s is %u, not %u",                             \
				 (unsigned long long)(life)->seed, __func__, __LINE__, what, got_, \
				 want_);                                                           \
	} while (0)

/* Run `check` after every step of every life. */
void in_every_life(void (*check)(struct life *l));

/* The number of an app byte, by its offset. */
uint32_t app_number(const struct life *l, uint32_t offset);

/* Offsets in the other stream, by what the code under test says. */
uint32_t to_wire(const struct life *l, uint32_t app);
uint32_t to_app(const struct life *l, uint32_t wire);
uint32_t to_app_up(const struct life *l, uint32_t wire);

#endif
