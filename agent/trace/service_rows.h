/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables `services` and `service_attributes` of the store. */
#ifndef CTXPROP_SERVICE_ROWS_H
#define CTXPROP_SERVICE_ROWS_H

#include <sqlite3.h>

#include "trace/service.h"

/*
 * The most rows (pairs of name and container) that one owner has. Further names of a container
 * share one row, _OTHER.
 */
#define SERVICE_ROWS_SHARE 512

struct service_rows;

/* 0, -ENOMEM, or -EIO: SQLite refuses (sqlite3_errmsg()). The database stays the caller's. */
int service_rows_new(sqlite3 *db, struct service_rows **ret_rows);

/* NULL is allowed. */
void service_rows_free(struct service_rows *rows);

/*
 * A transaction was rolled back: forget the rows that are remembered, which may not exist. NULL is
 * allowed.
 */
void service_rows_forget(struct service_rows *rows);

/* The row of a service that process `tgid` runs, made if need be. 0: SQLite refuses. */
sqlite3_int64 service_rows_id(struct service_rows *rows, __u32 tgid, const struct service *service);

#endif
