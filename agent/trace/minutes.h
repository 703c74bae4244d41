/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `endpoints` of the store: one row for each minute, service, side, method and route,
 * with how many requests there were, how many went wrong, and how long they took. The rows of the
 * running minute are kept in memory, too, and written with each transaction.
 */
#ifndef CTXPROP_MINUTES_H
#define CTXPROP_MINUTES_H

#include <sqlite3.h>

#include "trace/span.h"

/*
 * The most rows of a minute, which owners share (shares.h); requests of further endpoints are not
 * counted.
 */
#define MINUTES_ENDPOINTS_MAX 2048

struct minutes;

/* The database outlives it. 0, -ENOMEM or -EIO (sqlite3_errmsg()). */
int minutes_new(sqlite3 *db, struct minutes **ret_minutes);
void minutes_free(struct minutes *minutes);

/* Count a span, whose service has this row; `wall_ns`: when it ended (CLOCK_REALTIME). */
void minutes_add(struct minutes *minutes, const struct span *span, sqlite3_int64 service,
		 __s64 wall_ns);

/* Write what has changed, within a transaction. 0 or -EIO. */
int minutes_write(struct minutes *minutes);

/*
 * The transaction was rolled back: forget what was counted since, and use the table's rows. NULL is
 * allowed.
 */
void minutes_forget(struct minutes *minutes);

#endif
