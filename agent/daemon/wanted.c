// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "daemon/wanted.h"

int wanted_add(struct wanted *wanted, const char *which)
{
	if (!strcmp(which, "self"))
		return 0;
	if (!strcmp(which, "all")) {
		wanted->all = true;
		return 0;
	}
	if (wanted->count == WANTED_PATTERNS_MAX)
		return -E2BIG;
	wanted->patterns[wanted->count++] = which;
	return 0;
}

bool wanted_any(const struct wanted *wanted)
{
	return wanted->all || wanted->count;
}

bool wanted_has(const struct wanted *wanted, const struct netns_way *way)
{
	for (size_t i = 0; way->named && i < wanted->count; i++)
		if (!fnmatch(wanted->patterns[i], way->name, 0))
			return true;
	return wanted->all;
}
