/* SPDX-License-Identifier: Apache-2.0 */
/* The tables and views of the store (docs/schema.md), and how older ones become these. */
#ifndef CTXPROP_SCHEMA_H
#define CTXPROP_SCHEMA_H

#include <sqlite3.h>

/* PRAGMA user_version of a store whose schema this is. */
#define SCHEMA_VERSION 4

/*
 * Make what is missing. 0; -EPROTO: the store is of a newer build, which alone can use it; -EIO:
 * SQLite refuses (sqlite3_errmsg()).
 */
int schema_bring_up(sqlite3 *db);

#endif
