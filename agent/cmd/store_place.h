/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store is that commands read: where the daemon says, or else in the usual place. */
#ifndef CTXPROP_CMD_STORE_PLACE_H
#define CTXPROP_CMD_STORE_PLACE_H

#include <limits.h>
#include <stdbool.h>

#define STORE_PLACE_WHY_MAX (PATH_MAX + 512)

struct store_place {
	char path[PATH_MAX]; /* empty: there is none that can be read here */
	/*
	 * Then why; else, if the daemon has not told of the path, why it has not: worth to be known
	 * if nothing is found there. Empty: it has.
	 */
	char why[STORE_PLACE_WHY_MAX];
	bool is_guess; /* a daemon runs, and does not tell: it may store elsewhere */
};

/* Ask the daemon that attends this network namespace. Complains of nothing. */
void store_place_find(struct store_place *ret);

#endif
