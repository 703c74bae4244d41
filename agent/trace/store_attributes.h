/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table `service_attributes` of the store: what is known of a service beside its name and container
 * (attributes.h), as a JSON object.
 */
#ifndef CTXPROP_STORE_ATTRIBUTES_H
#define CTXPROP_STORE_ATTRIBUTES_H

#include <sqlite3.h>

/*
 * Make the table if it is missing, and prepare the statement to write into it. Returns what SQLite
 * says; the statement is the caller's to finalize.
 */
int store_attributes_open(sqlite3 *db, sqlite3_stmt **ret_put);

/* Write the attributes of the service of this row; does nothing if there are none. */
void store_attributes_put(sqlite3_stmt *put, sqlite3_int64 service, const char *attributes);

#endif
