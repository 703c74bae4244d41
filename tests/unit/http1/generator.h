/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams of HTTP/1 messages: valid, odd and hostile. The same seed makes the same one. */
#ifndef CTXPROP_TEST_GENERATOR_H
#define CTXPROP_TEST_GENERATOR_H

#include <stddef.h>
#include <stdint.h>

#include "run.h"

/* How much of what servers disagree about goes into a stream. */
enum generator_mood {
	GENERATOR_VALID,   /* every message is well-formed */
	GENERATOR_ODD,     /* well-formed, or in a form that some reader refuses */
	GENERATOR_HOSTILE, /* and some bytes are replaced, removed or repeated */
	GENERATOR_MOODS,
};

struct generator {
	uint64_t seed; /* not 0; changes with every number drawn */
	uint8_t *bytes;
	size_t len;
	size_t room;
};

/* A number below `below`, which is not 0. */
uint32_t generator_draw(struct generator *g, uint32_t below);

/* Overwrite g->bytes with 1 to 6 messages, as far as there is room. */
void generator_stream(struct generator *g, enum protocol_kind kind, enum generator_mood mood);

#endif
