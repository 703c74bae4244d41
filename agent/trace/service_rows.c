// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/attributes.h"
#include "trace/service_rows.h"

static const char make_sql[] = "CREATE TABLE IF NOT EXISTS service_attributes ("
			       "service_id INTEGER PRIMARY KEY REFERENCES services (id), "
			       "attributes TEXT NOT NULL)";

static const char put_sql[] = "INSERT INTO service_attributes VALUES (?, ?) ON CONFLICT "
			      "(service_id) DO UPDATE SET attributes = excluded.attributes";

/*
 * Make the table if it is missing, and prepare the statement to write into it. Returns what SQLite
 * says; the statement is the caller's to finalize.
 */
static int store_attributes_open(sqlite3 *db, sqlite3_stmt **ret_put)
{
	int status = sqlite3_exec(db, make_sql, NULL, NULL, NULL);

	if (status != SQLITE_OK)
		return status;
	return sqlite3_prepare_v3(db, put_sql, -1, SQLITE_PREPARE_PERSISTENT, ret_put, NULL);
}

/* As a JSON object, the caller's to free; NULL: no memory. */
static char *write_json(const char *attributes)
{
	json_t *object = json_object();
	const char *at = attributes;
	struct attribute one;
	char *json;

	while (attributes_next(&at, &one)) {
		json_object_setn_new(object, one.key, one.key_length,
				     json_stringn(one.value, one.value_length));
	}
	json = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return json;
}

/* Write the attributes of the service of this row; does nothing if there are none. */
static void store_attributes_put(sqlite3_stmt *put, sqlite3_int64 service, const char *attributes)
{
	_cleanup_free_ char *json = *attributes ? write_json(attributes) : NULL;

	if (!json)
		return;
	sqlite3_bind_int64(put, 1, service);
	sqlite3_bind_text(put, 2, json, -1, SQLITE_STATIC);
	sqlite3_step(put);
	sqlite3_reset(put);
	sqlite3_clear_bindings(put);
}

#define SERVICES 256 /* whose row is remembered */
#define OTHERS   "_OTHER"

struct known_service {
	struct service service;
	sqlite3_int64 id; /* 0: none */
};

struct service_rows {
	sqlite3 *db;
	sqlite3_stmt *find, *insert, *count, *put_attributes;
	struct known_service known[SERVICES];
};

static const char find_sql[] = "SELECT id FROM services WHERE name = ?1 AND container = ?2";
static const char insert_sql[] =
    "INSERT INTO services (name, container, owner) VALUES (?1, ?2, ?3)";
static const char count_sql[] = "SELECT count(*) FROM services WHERE owner = ?";

static int prepare(const struct service_rows *rows, const char *sql, sqlite3_stmt **ret_statement)
{
	return sqlite3_prepare_v3(rows->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement,
				  NULL);
}

int service_rows_new(sqlite3 *db, struct service_rows **ret_rows)
{
	struct service_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->db = db;
	if (prepare(rows, find_sql, &rows->find) || prepare(rows, insert_sql, &rows->insert) ||
	    prepare(rows, count_sql, &rows->count) ||
	    store_attributes_open(db, &rows->put_attributes) != SQLITE_OK) {
		service_rows_free(rows);
		return -EIO;
	}
	*ret_rows = rows;
	return 0;
}

void service_rows_free(struct service_rows *rows)
{
	if (!rows)
		return;
	sqlite3_finalize(rows->find);
	sqlite3_finalize(rows->insert);
	sqlite3_finalize(rows->count);
	sqlite3_finalize(rows->put_attributes);
	free(rows);
}

void service_rows_forget(struct service_rows *rows)
{
	if (rows)
		memset(rows->known, 0, sizeof(rows->known));
}

/* Run a statement with the name and the container of a service. Returns what SQLite says. */
static int step(sqlite3_stmt *statement, const char *name, const struct service *service)
{
	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, service->container, -1, SQLITE_STATIC);
	return sqlite3_step(statement);
}

/* 0: there is none, and it could not be made. */
static sqlite3_int64 find_or_make(struct service_rows *rows, const char *name,
				  const struct service *service, bool may_make)
{
	sqlite3_int64 id = 0;

	if (step(rows->find, name, service) == SQLITE_ROW)
		id = sqlite3_column_int64(rows->find, 0);
	sqlite3_reset(rows->find);
	if (id || !may_make)
		return id;
	sqlite3_bind_text(rows->insert, 3, service->owner, -1, SQLITE_STATIC);
	if (step(rows->insert, name, service) == SQLITE_DONE)
		id = sqlite3_last_insert_rowid(rows->db);
	sqlite3_reset(rows->insert);
	return id;
}

/* May this owner have another name? */
static bool has_room(struct service_rows *rows, const char *owner)
{
	sqlite3_int64 names = 0;

	sqlite3_bind_text(rows->count, 1, owner, -1, SQLITE_STATIC);
	if (sqlite3_step(rows->count) == SQLITE_ROW)
		names = sqlite3_column_int64(rows->count, 0);
	sqlite3_reset(rows->count);
	return names < SERVICE_ROWS_SHARE;
}

/* One owner's names beyond his share have one row. */
static sqlite3_int64 choose(struct service_rows *rows, const struct service *service)
{
	sqlite3_int64 id = find_or_make(rows, service->name, service, false);

	if (!id && !has_room(rows, service->owner))
		return find_or_make(rows, OTHERS, service, true);
	if (!id)
		id = find_or_make(rows, service->name, service, true);
	if (id)
		store_attributes_put(rows->put_attributes, id, service->attributes);
	return id;
}

sqlite3_int64 service_rows_id(struct service_rows *rows, __u32 tgid, const struct service *service)
{
	struct known_service *known = &rows->known[tgid % SERVICES];

	if (known->id && service_is_same(&known->service, service))
		return known->id;
	known->service = *service;
	known->id = choose(rows, service);
	return known->id;
}
