/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that samples belong to, out of the store of spans: what was asked, of which
 * service, and how it ended.
 */
#ifndef CTXPROP_PROFILE_REQUESTS_H
#define CTXPROP_PROFILE_REQUESTS_H

#include <stdbool.h>
#include <sqlite3.h>
#include <linux/types.h>

/* An endpoint of a service: what samples are counted by. */
struct endpoint {
	struct endpoint *next;
	char *name;     /* "GET /users/{id}" */
	char *service;  /* empty: not known */
	__u64 requests; /* that ended while samples were taken */
	__u64 samples;
};

struct requests;

/*
 * Read the requests that were served within a time (ns since 1970). Without a store (`db` NULL)
 * there are none. NULL: no memory, or the store cannot be read (sqlite3_errmsg()).
 */
struct requests *requests_read(sqlite3 *db, __s64 from_ns, __s64 to_ns);
void requests_free(struct requests *requests);

/*
 * The endpoint of a request by its ids. One that has not ended, or is not in the store, has one of
 * its own; all zero: that of samples of no request.
 */
struct endpoint *requests_find(struct requests *requests, const __u8 trace_id[16],
			       const __u8 span_id[8]);

/* Does an endpoint fit a pattern of glob(7), with its method or by its route alone? NULL: any does.
 */
bool endpoint_fits(const struct endpoint *endpoint, const char *pattern);

/* The first of all that there are, in no order. */
const struct endpoint *requests_endpoints(const struct requests *requests);

#endif
