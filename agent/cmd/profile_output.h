/* SPDX-License-Identifier: Apache-2.0 */
/* What `ctxprop profile` writes: files. */
#ifndef CTXPROP_CMD_PROFILE_OUTPUT_H
#define CTXPROP_CMD_PROFILE_OUTPUT_H

#include <stdbool.h>

#include "profile/message/message.h"

#define PROFILE_FORMATS "pprof (.pb.gz), svg, folded or otlp"

struct profile_format;

/* The format of this name, or that of files whose names end so. NULL: there is none. */
const struct profile_format *profile_format_named(const char *name);
const struct profile_format *profile_format_of_file(const char *file);

/* Has the format this name, as profile_format_named() takes it? */
bool profile_format_is(const struct profile_format *format, const char *name);

/* Has it links to spans, that are made of samples' ids? */
bool profile_format_has_links(const struct profile_format *format);

/*
 * Write a file, or nothing of it. `all`: what belongs to no request is in pictures, too. Complains
 * itself; returns an exit code.
 */
int profile_write(const struct profile_format *format, const char *file, struct message *message,
		  bool all);

#endif
