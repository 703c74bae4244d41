/* SPDX-License-Identifier: Apache-2.0 */
/* `ctxprop profile show`, `diff` and `--last`: profiles that were taken before. */
#ifndef CTXPROP_CMD_PROFILE_READ_H
#define CTXPROP_CMD_PROFILE_READ_H

#include "cmd/profile_output.h"

struct profile_reading {
	const char *output; /* NULL: none */
	const struct profile_format *format;
	const struct filter *filter;
	const struct tags *tags;   /* NULL: none */
	const char *by;            /* "KEY=ONE,OTHER"; NULL: two profiles are compared */
	const char *last, *before; /* of a continuous profile, as typed; NULL: files are read */
	__u64 last_ns, before_ns;
	bool json;
	bool all; /* as in struct profile_result */
};

/* Is it a word of `ctxprop profile` that profile_read() understands? */
bool profile_is_reading(const char *word);

/* Do what the words say. Complains itself; returns an exit code. */
int profile_read(const struct profile_reading *reading, const char *const *words, size_t count);

#endif
