/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the profile that the daemon keeps (docs/api.md). */
#ifndef CTXPROP_WEB_PROFILE_QUESTION_H
#define CTXPROP_WEB_PROFILE_QUESTION_H

#include <limits.h>
#include <stdbool.h>

#include "profile/draw/diff.h"
#include "profile/message/endpoints.h"
#include "web/request.h"
#include "web/server.h"

/* What the widths of a picture are: time on the CPU, off it, or both. */
enum profile_of { PROFILE_OF_CPU, PROFILE_OF_WAITS, PROFILE_OF_WALL };

struct profile_question {
	char folder[PATH_MAX];          /* of the windows */
	__s64 from_s, to_s;             /* since 1970 */
	bool is_picture;                /* a flame graph; else the table of endpoints */
	const char *service, *endpoint; /* only of these, exactly; NULL: of any */
	bool all; /* of no endpoint in particular: what belongs to no request, too */
	enum profile_of of;
	enum latency bucket[DIFF_SIDES]; /* only of requests so slow; two are compared */
	unsigned int buckets;            /* how many are said */
};

/* For people: "CPU time". */
const char *profile_of_title(enum profile_of of);

/*
 * Read the parameters of a query, whose texts are the request's. 0, or -EINVAL after it was
 * refused.
 */
int profile_question_read(const struct web_options *options, const struct request *request,
			  struct reply *reply, bool is_picture, struct profile_question *ret);

#endif
