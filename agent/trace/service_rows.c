// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/service_rows.h"
#include "trace/store_attributes.h"

#define SERVICES 256 /* whose row is remembered */

struct known_service {
	struct service service;
	sqlite3_int64 id; /* 0: none */
};

struct service_rows {
	sqlite3 *db;
	sqlite3_stmt *find, *insert, *put_attributes;
	struct known_service known[SERVICES];
};

int service_rows_new(sqlite3 *db, struct service_rows **ret_rows)
{
	struct service_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->db = db;
	if (sqlite3_prepare_v3(db, "SELECT id FROM services WHERE name = ? AND container = ?", -1,
			       SQLITE_PREPARE_PERSISTENT, &rows->find, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v3(db, "INSERT INTO services (name, container) VALUES (?, ?)", -1,
			       SQLITE_PREPARE_PERSISTENT, &rows->insert, NULL) != SQLITE_OK ||
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
	sqlite3_finalize(rows->put_attributes);
	free(rows);
}

void service_rows_forget(struct service_rows *rows)
{
	if (rows)
		memset(rows->known, 0, sizeof(rows->known));
}

/* Run a statement with the two texts of a service. Returns what SQLite says. */
static int step(sqlite3_stmt *statement, const struct service *service)
{
	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, service->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, service->container, -1, SQLITE_STATIC);
	return sqlite3_step(statement);
}

static sqlite3_int64 find_or_make(struct service_rows *rows, const struct service *service)
{
	sqlite3_int64 id = 0;

	if (step(rows->find, service) == SQLITE_ROW)
		id = sqlite3_column_int64(rows->find, 0);
	else if (step(rows->insert, service) == SQLITE_DONE)
		id = sqlite3_last_insert_rowid(rows->db);
	sqlite3_reset(rows->find);
	sqlite3_reset(rows->insert);
	return id;
}

sqlite3_int64 service_rows_id(struct service_rows *rows, __u32 tgid, const struct service *service)
{
	struct known_service *known = &rows->known[tgid % SERVICES];

	if (known->id && service_is_same(&known->service, service))
		return known->id;
	known->service = *service;
	known->id = find_or_make(rows, service);
	if (known->id)
		store_attributes_put(rows->put_attributes, known->id, service->attributes);
	return known->id;
}
