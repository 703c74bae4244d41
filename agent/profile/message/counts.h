/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many requests there were while samples were taken, as comments of pprof: of each endpoint
 * "#requests", COUNT, SERVICE, ENDPOINT; "#lost", COUNT for samples that were lost; "#servers",
 * COUNT for those of servers, and "#no_request", COUNT, REASON for those of them that belong to no
 * request (servers.h); with tabs between. What begins with # is not printed in every report of `go
 * tool pprof`.
 */
#ifndef CTXPROP_PROFILE_MESSAGE_COUNTS_H
#define CTXPROP_PROFILE_MESSAGE_COUNTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "profile/message/message.h"

#define COUNTS_MAX (1ULL << 53) /* more is taken for so many */

enum count_kind { COUNT_REQUESTS, COUNT_LOST, COUNT_SERVERS, COUNT_NO_REQUEST, COUNT_KINDS };

/* A comment, read. */
struct count {
	enum count_kind kind;
	__u64 count;
	const char *of; /* SERVICE, a tab, ENDPOINT; a reason; empty: of nothing in particular */
};

/* Its text is the comment's. 0, or -EINVAL: it is somebody else's comment. */
int count_parse(const char *comment, struct count *ret);

/* The comment of a count. The caller frees it; NULL: no memory. */
char *count_text(const struct count *count);

/* The text of what is counted, without control characters. The caller frees it; NULL: no memory. */
char *count_of(const char *service, const char *endpoint);

/* The sum of two counts, COUNTS_MAX at most. */
__u64 count_add(__u64 one, __u64 other);

/*
 * Remove the counts of requests for which `keeps` returns false: if only some samples of an
 * endpoint are left, its number of requests says nothing about them. `of` as in a count.
 */
void counts_keep(struct message *message, bool (*keeps)(const char *of, const void *data),
		 const void *data);

#endif
