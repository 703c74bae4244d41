// SPDX-License-Identifier: Apache-2.0
/* framing_seeds DIRECTORY: writes inputs for the fuzz target `framing`. */
#include <stdio.h>
#include <stdlib.h>

#include "framing_input.h"
#include "generator.h"

#define SEEDS      96
#define STREAM_MAX 2048

/* Returns 0 or -1. */
static int write_seed(const char *folder, unsigned n, const struct framing_input *in,
		      const struct generator *g)
{
	char path[4096];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "%s/seed-%02u", folder, n);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return -1;
	}
	err = fwrite(in, sizeof(*in), 1, file) != 1 || fwrite(g->bytes, 1, g->len, file) != g->len;
	return fclose(file) || err ? -1 : 0;
}

int main(int argc, char **argv)
{
	static uint8_t bytes[STREAM_MAX];
	struct generator g = {.seed = 1, .bytes = bytes, .room = sizeof(bytes)};

	if (argc != 2) {
		fprintf(stderr, "usage: framing_seeds DIRECTORY\n");
		return 2;
	}
	for (unsigned i = 0; i < SEEDS; i++) {
		struct framing_input in = {.kind = i & 7};

		for (unsigned k = 0; k < FRAMING_CUTS; k++)
			in.distance[k] = generator_draw(&g, 200);
		generator_stream(&g, in.kind & 1, i % GENERATOR_MOODS);
		if (write_seed(argv[1], i, &in, &g))
			return 1;
	}
	return 0;
}
