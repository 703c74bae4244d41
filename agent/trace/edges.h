/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which service calls which, by the spans in the store. A call is joined with the request that it
 * became on this host: by connection and position of its first byte, or else by the span id that it
 * carried. All other calls go to a host outside, and all other requests come from an address
 * outside.
 */
#ifndef CTXPROP_EDGES_H
#define CTXPROP_EDGES_H

#include <stdbool.h>
#include <sqlite3.h>

#include "trace/histogram.h"

#define EDGES_MAX       500   /* all further ones are counted in one edge */
#define EDGES_SPANS_MAX 50000 /* read at most, of each side, the newest ones */

struct edge {
	char *caller, *callee; /* names of services, or addresses */
	bool from_outside, to_outside;
	__u64 count, errors, longest_ns;
	struct histogram durations; /* as the caller saw them, where it is a service of this host */
};

struct edges {
	struct edge **edge;
	size_t count;
	__s64 first_ns; /* when the first span that was read began; 0: there is none */
	bool is_cut;    /* there were more spans than are read */
};

/* Read the spans that began at this time of the clock or later. 0, -ENOMEM or -EIO. */
int edges_read(sqlite3 *db, __s64 since_ns, struct edges *ret_edges);

void edges_free(struct edges *edges);

#endif
