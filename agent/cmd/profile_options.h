/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of `ctxprop profile` ask for. */
#ifndef CTXPROP_CMD_PROFILE_OPTIONS_H
#define CTXPROP_CMD_PROFILE_OPTIONS_H

#include "cmd/profile_output.h"
#include "profile/sampler.h"

struct profile_wanted {
	struct sampler_options sampler;
	struct filter filter;
	const char *file; /* to write; NULL: none */
	const char *registry;
	const struct profile_format *format; /* of the file */
	const char *tags;                    /* a file of rules */
	const char *by;
	const char *sampling;      /* the last option that says how samples are taken */
	const char *last, *before; /* as they were typed; NULL: they were not */
	__u64 last_ns, before_ns;
	bool ids;
	bool all; /* what belongs to no request has its share, and its place in pictures */
};

/*
 * What the options have said, which is the command's to change. The format is that which the
 * file's ending tells, unless it was said. COMMAND_OK, or COMMAND_USAGE after a complaint.
 */
int profile_options(struct profile_wanted **ret);

#endif
