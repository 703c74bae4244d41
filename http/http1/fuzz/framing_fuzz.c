// SPDX-License-Identifier: Apache-2.0
/* Framing: the same events however the bytes are cut, and the boundaries that llhttp finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framing_input.h"
#include "oracle.h"
#include "run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what)
{
	fprintf(stderr, "framing: %s\n", what);
	abort();
}

/* Turn the distances into places within the stream. Returns how many there are. */
static size_t place_cuts(const struct framing_input *in, size_t len, size_t cuts[FRAMING_CUTS])
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < FRAMING_CUTS; i++) {
		at += in->distance[i];
		if (at < len)
			cuts[count++] = at;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run whole, cut;
	static char text[512];
	struct framing_input in;
	size_t cuts[FRAMING_CUTS];
	struct run_input input;

	if (size < sizeof(in))
		return 0;
	memcpy(&in, data, sizeof(in));
	input = (struct run_input){
	    .kind = in.kind & 1 ? PROTOCOL_RESPONSE : PROTOCOL_REQUEST,
	    .bytes = data + sizeof(in),
	    .len = size - sizeof(in),
	    .answers = in.answers,
	};
	run_stream(&input, &whole);
	if (whole.fault)
		fail(whole.fault);
	if (!oracle_agrees(&input, &whole, text, sizeof(text)))
		fail(text);
	input.cuts = cuts;
	input.cut_count = place_cuts(&in, input.len, cuts);
	input.look = in.kind & 2;
	input.scan = in.kind & 4;
	if (input.scan)
		run_thin(&whole);
	run_stream(&input, &cut);
	if (cut.fault)
		fail(cut.fault);
	if (run_differ(&whole, &cut, text, sizeof(text)))
		fail(text);
	return 0;
}
