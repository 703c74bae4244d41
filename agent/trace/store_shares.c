// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/query.h"
#include "trace/store_shares.h"

#define SERVICES     256 /* whose sums are kept until they are written */
#define CONDITION    320 /* characters of an SQL condition */
#define OWNERS_ABOVE 2   /* who can be above their share together */

/* The services of the owner of a service, by its number. */
#define SERVICES_OF "services WHERE owner = (SELECT owner FROM services WHERE id = %lld)"

/* What the rows that were added have; by the number of their service. */
struct store_shares {
	sqlite3_stmt *add;
	struct added {
		sqlite3_int64 service, bytes;
	} added[SERVICES];
};

int store_shares_new(sqlite3 *db, struct store_shares **ret_shares)
{
	static const char sql[] = "UPDATE services SET bytes = bytes + ?2 WHERE id = ?1";
	struct store_shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &shares->add, NULL) !=
	    SQLITE_OK) {
		free(shares);
		return -EIO;
	}
	*ret_shares = shares;
	return 0;
}

void store_shares_free(struct store_shares *shares)
{
	if (!shares)
		return;
	sqlite3_finalize(shares->add);
	free(shares);
}

static int write_one(struct store_shares *shares, struct added *added)
{
	int result = SQLITE_DONE;

	if (added->bytes) {
		sqlite3_bind_int64(shares->add, 1, added->service);
		sqlite3_bind_int64(shares->add, 2, added->bytes);
		result = sqlite3_step(shares->add);
		sqlite3_reset(shares->add);
	}
	added->bytes = 0;
	return result == SQLITE_DONE ? 0 : -EIO;
}

static void add(struct store_shares *shares, sqlite3_int64 service, size_t bytes)
{
	struct added *added = &shares->added[service % SERVICES];

	if (added->service != service)
		write_one(shares, added);
	added->service = service;
	added->bytes += (sqlite3_int64)bytes;
}

void store_shares_add_span(struct store_shares *shares, sqlite3_int64 service,
			   const struct span *span)
{
	add(shares, service,
	    STORE_ROW_BYTES + strlen(span->path) + strlen(span->route) + strlen(span->host) +
		strlen(span->agent));
}

void store_shares_add_connection(struct store_shares *shares, sqlite3_int64 service)
{
	add(shares, service, STORE_ROW_BYTES);
}

int store_shares_write(struct store_shares *shares)
{
	int err = 0;

	for (size_t i = 0; !err && i < SERVICES; i++)
		err = write_one(shares, &shares->added[i]);
	return err;
}

void store_shares_forget(struct store_shares *shares)
{
	if (shares)
		memset(shares->added, 0, sizeof(shares->added));
}

static int run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int subtract_and_delete(sqlite3 *db, const char *table, const char *condition)
{
	const char *bytes = strcmp(table, "spans") != 0 ? STORE_CONNECTION_BYTES : STORE_SPAN_BYTES;
	char sql[2 * CONDITION + 512];
	int err;

	snprintf(
	    sql, sizeof(sql),
	    "UPDATE services SET bytes = max(0, services.bytes - gone.bytes) FROM "
	    "(SELECT service_id, sum(%s) AS bytes FROM %s WHERE %s GROUP BY service_id) AS gone "
	    "WHERE services.id = gone.service_id",
	    bytes, table, condition);
	err = run(db, sql);
	if (err)
		return err;
	snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE %s", table, condition);
	err = run(db, sql);
	return err ? err : sqlite3_changes(db);
}

int store_shares_delete(sqlite3 *db, const char *table, const char *condition)
{
	int removed = run(db, "SAVEPOINT removal");

	if (removed)
		return removed;
	removed = subtract_and_delete(db, table, condition);
	if (removed < 0)
		run(db, "ROLLBACK TO removal");
	return run(db, "RELEASE removal") ? -EIO : removed;
}

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
	char condition[CONDITION];

	snprintf(condition, sizeof(condition),
		 "id >= %lld AND id < %lld AND service_id IN (SELECT id FROM " SERVICES_OF ")",
		 first, first + rows, service);
	return store_shares_delete(db, table, condition);
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
