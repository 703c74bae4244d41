/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that samples belong to, out of the store of spans: what was asked, of which
 * service, how it ended, and how slow it was among those of its endpoint.
 */
#ifndef CTXPROP_PROFILE_TAKE_REQUESTS_H
#define CTXPROP_PROFILE_TAKE_REQUESTS_H

#include <stdbool.h>
#include <sqlite3.h>
#include <sys/types.h>
#include <linux/types.h>

#include "profile/message/endpoints.h"

/* An endpoint of a service. */
struct endpoint {
	struct endpoint *next;
	char *name;                /* "GET /users/{id}" */
	char *service;             /* empty: not known */
	__u64 requests;            /* that ended while samples were taken */
	__s64 up_to_ns[LATENCIES]; /* the longest duration of each part */
};

/* What is known of the request of a sample. */
struct profiled_request {
	struct endpoint *endpoint;
	unsigned int status; /* 0: none */
	__s64 duration_ns;   /* 0: not known */
	enum latency latency;
};

struct requests;

/*
 * Read the requests that were served within a time (ns since 1970). Without a store (`db` NULL)
 * there are none. NULL: no memory, or the store cannot be read (sqlite3_errmsg()).
 */
struct requests *requests_read(sqlite3 *db, __s64 from_ns, __s64 to_ns);
void requests_free(struct requests *requests);

#define REQUEST_OF_ANY (-1) /* in place of a process */

/*
 * A request by its ids, of the process `pid` (of the initial pid namespace) or REQUEST_OF_ANY: ids
 * that a program shows itself may be those of somebody else, whose request it has become part of,
 * and then there is no request. One that has not ended, or is not in the store, has an endpoint of
 * its own; all zero: that of samples of no request.
 */
struct profiled_request requests_find(struct requests *requests, const __u8 trace_id[16],
				      const __u8 span_id[8], pid_t pid);

/* How often a request was looked for that is not in the store, perhaps because it has not ended. */
__u64 requests_missed(const struct requests *requests);

/* The first of a list of all endpoints, in no order. */
const struct endpoint *requests_endpoints(const struct requests *requests);

#endif
