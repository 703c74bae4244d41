// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "trace/schema.h"

static const char *const steps[SCHEMA_VERSION] = {
    /* From nothing to version 1. */
    "CREATE TABLE services (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL,\n"
    "  container TEXT NOT NULL,\n"
    "  UNIQUE (name, container));\n"
    "CREATE TABLE spans (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  trace_id BLOB NOT NULL,\n"
    "  span_id BLOB NOT NULL,\n"
    "  parent_id BLOB,\n"
    "  kind INTEGER NOT NULL,\n"
    "  start_ns INTEGER NOT NULL,\n"
    "  duration_ns INTEGER NOT NULL,\n"
    "  first_byte_ns INTEGER,\n"
    "  service_id INTEGER NOT NULL REFERENCES services (id),\n"
    "  method TEXT, path TEXT, route TEXT, host TEXT, user_agent TEXT,\n"
    "  status INTEGER,\n"
    "  outcome TEXT NOT NULL,\n"
    "  error INTEGER NOT NULL,\n"
    "  local_address TEXT NOT NULL, local_port INTEGER NOT NULL,\n"
    "  remote_address TEXT NOT NULL, remote_port INTEGER NOT NULL,\n"
    "  netns INTEGER NOT NULL,\n"
    "  pid INTEGER, tid INTEGER,\n"
    "  request_bytes INTEGER, response_bytes INTEGER,\n"
    "  reused INTEGER NOT NULL,\n"
    "  forwarded INTEGER NOT NULL,\n"
    "  header TEXT, evidence TEXT, veto TEXT);\n"
    "CREATE UNIQUE INDEX spans_ids ON spans (trace_id, span_id);\n"
    "CREATE INDEX spans_start ON spans (start_ns);\n"
    "CREATE TABLE endpoints (\n"
    "  minute INTEGER NOT NULL,\n"
    "  service_id INTEGER NOT NULL REFERENCES services (id),\n"
    "  kind INTEGER NOT NULL,\n"
    "  method TEXT NOT NULL, route TEXT NOT NULL,\n"
    "  count INTEGER NOT NULL, errors INTEGER NOT NULL,\n"
    "  total_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL,\n"
    "  durations BLOB NOT NULL,\n"
    "  PRIMARY KEY (minute, service_id, kind, method, route)) WITHOUT ROWID;\n"
    "CREATE VIEW traces AS\n"
    "  SELECT lower(hex(trace_id)) AS trace, min(start_ns) AS start_ns,\n"
    "    max(start_ns + duration_ns) - min(start_ns) AS duration_ns,\n"
    "    count(*) AS spans, sum(error) AS errors,\n"
    "    count(DISTINCT service_id) AS services\n"
    "  FROM spans GROUP BY trace_id;\n"
    "CREATE VIEW calls AS\n"
    "  SELECT lower(hex(client.trace_id)) AS trace, client.start_ns AS start_ns,\n"
    "    caller.name AS caller, callee.name AS callee,\n"
    "    server.method AS method, server.route AS route, server.status AS status,\n"
    "    client.duration_ns AS client_ns, server.duration_ns AS server_ns\n"
    "  FROM spans AS client\n"
    "  JOIN spans AS server ON server.trace_id = client.trace_id\n"
    "    AND server.parent_id = client.span_id AND server.kind = 2\n"
    "  JOIN services AS caller ON caller.id = client.service_id\n"
    "  JOIN services AS callee ON callee.id = server.service_id\n"
    "  WHERE client.kind = 3;\n",
};

static int run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int read_version(sqlite3 *db, int *ret_version)
{
	sqlite3_stmt *statement = NULL;
	int err = -EIO;

	if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW) {
		*ret_version = sqlite3_column_int(statement, 0);
		err = 0;
	}
	sqlite3_finalize(statement);
	return err;
}

/* One step, as a whole or not at all. */
static int take_step(sqlite3 *db, int from)
{
	char version[40];
	int err = run(db, "BEGIN IMMEDIATE");

	if (err)
		return err;
	snprintf(version, sizeof(version), "PRAGMA user_version = %d", from + 1);
	err = run(db, steps[from]);
	if (!err)
		err = run(db, version);
	if (!err)
		err = run(db, "COMMIT");
	if (err)
		run(db, "ROLLBACK");
	return err;
}

int schema_bring_up(sqlite3 *db)
{
	int version, err = read_version(db, &version);

	if (!err && version > SCHEMA_VERSION)
		return -EPROTO;
	while (!err && version < SCHEMA_VERSION)
		err = take_step(db, version++);
	return err;
}
