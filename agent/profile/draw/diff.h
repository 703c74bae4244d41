/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two profiles, each of them in shares of its own total. */
#ifndef CTXPROP_PROFILE_DRAW_DIFF_H
#define CTXPROP_PROFILE_DRAW_DIFF_H

#include <stdio.h>

#include "profile/draw/flame.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff_function {
	const char *name;
	double self[DIFF_SIDES];  /* shares, 0 to 1: of what ends in it */
	double total[DIFF_SIDES]; /* and of what it is part of, each stack once */
};

struct diff {
	struct diff_function *function; /* the function whose own share differs most first */
	size_t count;
	struct flame *root[DIFF_SIDES];
	enum flame_unit unit;
};

/*
 * Compare what was measured in the same way; the messages outlive it. Trees are with or without the
 * endpoints. 0 or -ENOMEM.
 */
int diff_new(const struct message_weight weight[DIFF_SIDES], bool with_endpoint, struct diff *ret);
void diff_free(struct diff *diff);

/*
 * A flame graph whose widths are the means of both shares, so that what only the first one has is
 * seen, too. Red: its share of the second profile is larger; blue: smaller; grey: the same.
 */
void diff_write_svg(const struct diff *diff, const char *title, FILE *out);

#endif
