/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the store each owner (struct service) has (column services.bytes), and whose rows are
 * removed first when it is too large: those of an owner with so much that too little is left for
 * others.
 */
#ifndef CTXPROP_STORE_SHARES_H
#define CTXPROP_STORE_SHARES_H

#include <sqlite3.h>

#include "trace/span.h"

/*
 * About the bytes that a row takes, with its part of the indexes; of spans without and with texts.
 */
#define STORE_ROW_BYTES 235
#define STORE_SPAN_BYTES                                                                           \
	"235 + coalesce(length(CAST(path AS BLOB)), 0) + coalesce(length(CAST(route AS BLOB)), 0)" \
	" + coalesce(length(CAST(host AS BLOB)), 0)"                                               \
	" + coalesce(length(CAST(user_agent AS BLOB)), 0)"
#define STORE_CONNECTION_BYTES "235"

struct store_shares;

/* 0, -ENOMEM, or -EIO: SQLite refuses (sqlite3_errmsg()). The database stays the caller's. */
int store_shares_new(sqlite3 *db, struct store_shares **ret_shares);

/* NULL is allowed. */
void store_shares_free(struct store_shares *shares);

/* A span, or a connection, was added, of the row `service`. */
void store_shares_add_span(struct store_shares *shares, sqlite3_int64 service,
			   const struct span *span);
void store_shares_add_connection(struct store_shares *shares, sqlite3_int64 service);

/* Before a transaction ends: write what was added in it. 0 or -EIO. */
int store_shares_write(struct store_shares *shares);

/* A transaction was rolled back: forget what was added in it. NULL is allowed. */
void store_shares_forget(struct store_shares *shares);

/*
 * Remove the rows of a table ("spans", "connections") for which an SQL condition holds. Returns how
 * many there were, or -EIO.
 */
int store_shares_delete(sqlite3 *db, const char *table, const char *condition);

/*
 * The two owners with most may have three quarters of the store together, the first of them half
 * of it; others have the rest, if there are others. Returns a service of the owner with most of it
 * where that is more; 0: nobody is above his share.
 */
sqlite3_int64 store_shares_above(sqlite3 *db);

/*
 * Remove the oldest spans and connections of the owner of `service`, of `rows` rows that are looked
 * at. Returns how many were removed, or -EIO (sqlite3_errmsg()).
 */
int store_shares_remove(sqlite3 *db, sqlite3_int64 service, int rows);

#endif
