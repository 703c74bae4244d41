/* SPDX-License-Identifier: Apache-2.0 */
/* The table `connections` of the store (docs/schema.md), for who writes. */
#ifndef CTXPROP_CONNECTION_ROWS_H
#define CTXPROP_CONNECTION_ROWS_H

#include <sqlite3.h>

#include "trace/connection.h"

struct connection_rows;

/* 0, -ENOMEM, or -EIO: SQLite refuses (sqlite3_errmsg()). The database stays the caller's. */
int connection_rows_new(sqlite3 *db, struct connection_rows **ret_rows);

/* NULL is allowed. */
void connection_rows_free(struct connection_rows *rows);

/*
 * Add one, unless it is there; `service`: its row in the table `services`; `boot_to_wall_ns` makes
 * its times those of the clock. 0, or -EIO: SQLite refuses.
 */
int connection_rows_add(struct connection_rows *rows, const struct connection *connection,
			sqlite3_int64 service, __s64 boot_to_wall_ns);

#endif
