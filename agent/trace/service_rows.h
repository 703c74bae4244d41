/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `services` of the store, for who writes: the row of each, and what is known of it in
 * `service_attributes`.
 */
#ifndef CTXPROP_SERVICE_ROWS_H
#define CTXPROP_SERVICE_ROWS_H

#include <sqlite3.h>

#include "trace/service.h"

/*
 * Names and containers of one owner that have rows of their own; of each container with more, what
 * is beyond has one row, of the name _OTHER.
 */
#define SERVICE_ROWS_SHARE 512

struct service_rows;

/* 0, -ENOMEM, or -EIO: SQLite refuses (sqlite3_errmsg()). The database stays the caller's. */
int service_rows_new(sqlite3 *db, struct service_rows **ret_rows);

/* NULL is allowed. */
void service_rows_free(struct service_rows *rows);

/* A transaction was given up: rows that are remembered may not be there. NULL is allowed. */
void service_rows_forget(struct service_rows *rows);

/* The row of a service that process `tgid` runs, made if need be. 0: SQLite refuses. */
sqlite3_int64 service_rows_id(struct service_rows *rows, __u32 tgid, const struct service *service);

#endif
