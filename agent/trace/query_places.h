/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the traces that match a filter, and the row by which they are ordered. */
#ifndef CTXPROP_QUERY_PLACES_H
#define CTXPROP_QUERY_PLACES_H

#include "trace/query.h"
#include "trace/trace_set.h"

struct query_place {
	unsigned char id[TRACE_ID_SIZE];
	__s64 row; /* of the newest (or slowest) span of the trace that fits */
};

/* One for each trace, the newest (or slowest) one first. */
struct query_places {
	struct query_place *place;
	size_t count;
};

/* 0, -ENOMEM or -EIO (sqlite3_errmsg()): then there are none. */
int query_places_read(sqlite3 *db, const struct query_filter *filter,
		      struct query_places *ret_places);
void query_places_free(struct query_places *places);

#endif
