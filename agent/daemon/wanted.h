/* SPDX-License-Identifier: Apache-2.0 */
/* Which network namespaces the daemon is to work in, beside its own. */
#ifndef CTXPROP_WANTED_H
#define CTXPROP_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/netns_walk.h"

#define WANTED_PATTERNS_MAX 16

struct wanted {
	bool all;                                  /* all that can be found */
	const char *patterns[WANTED_PATTERNS_MAX]; /* of names, as the shell has them */
	size_t count;
};

/* Add "all", "self" (nothing more) or a pattern. 0 or -E2BIG. The text must outlive it. */
int wanted_add(struct wanted *wanted, const char *which);

/* Is anything wanted beside the own namespace? */
bool wanted_any(const struct wanted *wanted);

/* Is the namespace that this way leads to wanted? */
bool wanted_has(const struct wanted *wanted, const struct netns_way *way);

#endif
