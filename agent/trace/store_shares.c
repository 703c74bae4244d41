// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "trace/query.h"
#include "trace/store_shares.h"

#define OWNERS_ABOVE 2 /* who can be above their share together */

/* The services of the owner of a service, by its number. */
#define SERVICES_OF "services WHERE owner = (SELECT owner FROM services WHERE id = %lld)"

/* How much the owners with most have, the first one first. */
struct most {
	sqlite3_int64 service; /* of the first one */
	sqlite3_int64 bytes[OWNERS_ABOVE];
	int owners; /* all of them */
};

static void read_most(sqlite3 *db, struct most *ret_most)
{
	static const char sql[] = "SELECT min(id), sum(bytes) FROM services GROUP BY owner "
				  "HAVING sum(bytes) > 0 ORDER BY 2 DESC";
	sqlite3_stmt *statement = NULL;

	*ret_most = (struct most){};
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return;
	for (; sqlite3_step(statement) == SQLITE_ROW; ret_most->owners++) {
		if (!ret_most->owners)
			ret_most->service = sqlite3_column_int64(statement, 0);
		if (ret_most->owners < OWNERS_ABOVE)
			ret_most->bytes[ret_most->owners] = sqlite3_column_int64(statement, 1);
	}
	sqlite3_finalize(statement);
}

sqlite3_int64 store_shares_above(sqlite3 *db)
{
	const sqlite3_int64 all = query_number(db, "SELECT sum(bytes) FROM services");
	sqlite3_int64 together = 0;
	struct most most;

	read_most(db, &most);
	for (int i = 0; i < OWNERS_ABOVE && i + 1 < most.owners; i++) {
		together += most.bytes[i];
		if (together > all - (all >> (i + 1)))
			return most.service;
	}
	return 0;
}

/* The oldest row of the owner's in a table; 0: there is none. */
static sqlite3_int64 first_row(sqlite3 *db, const char *table, sqlite3_int64 service)
{
	char sql[256];

	snprintf(
	    sql, sizeof(sql),
	    "SELECT min((SELECT id FROM %s WHERE service_id = services.id ORDER BY id LIMIT 1)) "
	    "FROM " SERVICES_OF,
	    table, service);
	return query_number(db, sql);
}

/* Remove rows of a table that are the owner's, of `rows` from his first one on. */
static int remove_from(sqlite3 *db, const char *table, sqlite3_int64 service, int rows)
{
	const sqlite3_int64 first = first_row(db, table, service);
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "DELETE FROM %s WHERE id >= %lld AND id < %lld AND service_id IN "
		 "(SELECT id FROM " SERVICES_OF ")",
		 table, first, first + rows, service);
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? sqlite3_changes(db) : -EIO;
}

/* When the owner's oldest row of a table was made; 0: he has none. */
static sqlite3_int64 oldest_ns(sqlite3 *db, const char *table, const char *column,
			       sqlite3_int64 service)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE id = %lld", column, table,
		 first_row(db, table, service));
	return query_number(db, sql);
}

int store_shares_remove(sqlite3 *db, sqlite3_int64 service, int rows)
{
	const sqlite3_int64 span_ns = oldest_ns(db, "spans", "start_ns", service),
			    connection_ns = oldest_ns(db, "connections", "closed_ns", service);
	const int is_older = connection_ns && (!span_ns || connection_ns < span_ns);

	return remove_from(db, is_older ? "connections" : "spans", service, rows);
}
