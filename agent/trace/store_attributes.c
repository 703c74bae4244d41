// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "trace/attributes.h"
#include "trace/store_attributes.h"

static const char make_sql[] = "CREATE TABLE IF NOT EXISTS service_attributes ("
			       "service_id INTEGER PRIMARY KEY REFERENCES services (id), "
			       "attributes TEXT NOT NULL)";

static const char put_sql[] = "INSERT INTO service_attributes VALUES (?, ?) ON CONFLICT "
			      "(service_id) DO UPDATE SET attributes = excluded.attributes";

int store_attributes_open(sqlite3 *db, sqlite3_stmt **ret_put)
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

void store_attributes_put(sqlite3_stmt *put, sqlite3_int64 service, const char *attributes)
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
