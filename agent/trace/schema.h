/* SPDX-License-Identifier: Apache-2.0 */
/* The tables and views of the store (docs/schema.md), and how older ones become these. */
#ifndef CTXPROP_SCHEMA_H
#define CTXPROP_SCHEMA_H

#include <sqlite3.h>

/* PRAGMA user_version of a store whose schema this is. */
#define SCHEMA_VERSION 5

/*
 * Ids of traces are random: one index of all of them would be written to all over. So spans_ids has
 * a part for each run of so many rows, in the order of their ends, and only the last one is written
 * to; who looks for a trace looks into each part.
 */
#define SCHEMA_RUN_BITS      16
#define SCHEMA_RUN_BITS_TEXT "16"

/*
 * Make what is missing. 0; -EPROTO: the store is of a newer build, which alone can use it; -EIO:
 * SQLite refuses (sqlite3_errmsg()).
 */
int schema_bring_up(sqlite3 *db);

#endif
