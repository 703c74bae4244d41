/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of `ctxprop profile` ask for. */
#ifndef CTXPROP_CMD_PROFILE_OPTIONS_H
#define CTXPROP_CMD_PROFILE_OPTIONS_H

#include "cmd/profile_output.h"
#include "profile/message/filter.h"
#include "profile/message/tags.h"
#include "profile/take/sampler.h"

struct profile_wanted {
	struct sampler_options sampler;
	struct message_filter filter;
	const char *output;                  /* a file to write; NULL: none */
	const struct profile_format *format; /* of that file */
	const char *registry;
	const char *tags_file;     /* NULL: none */
	struct tags *tags;         /* the rules in it, once they are read */
	const char *by;            /* "KEY=ONE,OTHER"; NULL: two profiles are compared */
	const char *sampling;      /* the last option that says how samples are taken */
	const char *last, *before; /* of a continuous profile, as typed; NULL: they were not */
	__u64 last_ns, before_ns;
	bool ids;
	bool json;
	bool all; /* what belongs to no request has its share, and its place in pictures */
};

/*
 * What the options have said, which is the command's to change. The format is that which the
 * file's ending tells, unless it was said. COMMAND_OK, or COMMAND_USAGE after a complaint.
 */
int profile_options(struct profile_wanted **ret);

#endif
