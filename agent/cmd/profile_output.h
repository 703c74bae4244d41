/* SPDX-License-Identifier: Apache-2.0 */
/* What `ctxprop profile` makes of its samples: files. */
#ifndef CTXPROP_CMD_PROFILE_OUTPUT_H
#define CTXPROP_CMD_PROFILE_OUTPUT_H

#include <stdbool.h>

#include "profile/flame.h"
#include "profile/message.h"
#include "profile/tags.h"

/* What is known at the end. */
struct profile_result {
	const struct samples *samples;
	const struct names *names;
	struct requests *requests;
	const struct flame *root; /* also has counted the samples of each endpoint */
	const struct filter *filter;
	__s64 from_ns, to_ns; /* since 1970 */
	__u64 lost;           /* samples that are in none of this */
	__u64 waits_left_out;
	unsigned int hz;
	const struct servers
	    *servers; /* samples of these; NULL: only those of requests were taken */
	bool ids;
	bool all;                /* what belongs to no request is shown as the rest is */
	bool partial;            /* only some processes were sampled */
	const struct tags *tags; /* that files are written by; NULL: none */
	bool off_cpu;            /* waits are in it, and shares are of wall-clock time */
};

#define PROFILE_FORMATS "pprof (.pb.gz), svg, folded, speedscope (.json) or otlp"

struct profile_format;

/* The format of this name, or that of files whose names end so. NULL: there is none. */
const struct profile_format *profile_format_named(const char *name);
const struct profile_format *profile_format_of_file(const char *file);

/* Has the format this name, as profile_format_named() takes it? */
bool profile_format_is(const struct profile_format *format, const char *name);

/* Write a file, or nothing of it. Complains itself; returns an exit code. */
int profile_write(const struct profile_format *format, const char *file,
		  const struct profile_result *result);

/* Is it for people to look at: does it begin with what requests cost? */
bool profile_format_is_picture(const struct profile_format *format);

/* The same of what was read; `all` as in struct profile_result. */
int profile_write_message(const struct profile_format *format, const char *file,
			  struct message *message, bool all);

#endif
