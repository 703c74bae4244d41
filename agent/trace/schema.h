/* SPDX-License-Identifier: Apache-2.0 */
/* The tables and views of the store (docs/schema.md). */
#ifndef CTXPROP_SCHEMA_H
#define CTXPROP_SCHEMA_H

#include <sqlite3.h>

/*
 * PRAGMA user_version of a store whose schema this is. Smaller ones were of builds before the first
 * release.
 */
#define SCHEMA_VERSION 5

/*
 * Ids of traces are random, so writes to a single index of all of them would be scattered over it.
 * So the index spans_ids has a part for each 2^SCHEMA_RUN_BITS rows, of which only the last one is
 * written to; a search for a trace looks into each part.
 */
#define SCHEMA_RUN_BITS      16
#define SCHEMA_RUN_BITS_TEXT "16"

/*
 * Make what an empty database lacks. 0; -EPROTO: the store is of another version, whose build alone
 * can use it; -EIO: SQLite refuses (sqlite3_errmsg()).
 */
int schema_bring_up(sqlite3 *db);

#endif
