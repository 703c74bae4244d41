// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "trace/schema.h"

static const char create_sql[] =
    "CREATE TABLE services (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  name TEXT NOT NULL,\n"
    "  container TEXT NOT NULL,\n"
    "  owner TEXT NOT NULL DEFAULT '',\n"
    "  bytes INTEGER NOT NULL DEFAULT 0,\n"
    "  UNIQUE (name, container));\n"
    "CREATE INDEX services_owner ON services (owner);\n"
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
    "  header TEXT, evidence TEXT, veto TEXT,\n"
    "  socket_cookie INTEGER, position INTEGER, taken_ns INTEGER);\n"
    "CREATE INDEX spans_start ON spans (start_ns);\n"
    "CREATE INDEX spans_service ON spans (service_id);\n"
    /*
     * An index in parts. SQLite looks into each of them by itself (skip-scan) if it is told that
     * they are few and large.
     */
    "CREATE UNIQUE INDEX spans_ids ON spans (id >> " SCHEMA_RUN_BITS_TEXT ", trace_id, span_id);\n"
    "ANALYZE sqlite_master;\n"
    "INSERT INTO sqlite_stat1 VALUES ('spans', 'spans_ids', '2000000 65536 2 1');\n"
    "ANALYZE sqlite_master;\n"
    "CREATE TABLE endpoints (\n"
    "  minute INTEGER NOT NULL,\n"
    "  service_id INTEGER NOT NULL REFERENCES services (id),\n"
    "  kind INTEGER NOT NULL,\n"
    "  method TEXT NOT NULL, route TEXT NOT NULL,\n"
    "  count INTEGER NOT NULL, errors INTEGER NOT NULL,\n"
    "  total_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL,\n"
    "  durations BLOB NOT NULL,\n"
    "  PRIMARY KEY (minute, service_id, kind, method, route)) WITHOUT ROWID;\n"
    "CREATE INDEX endpoints_service ON endpoints (service_id);\n"
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
    "  WHERE client.kind = 3;\n"
    "CREATE TABLE connections (\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  socket_cookie INTEGER NOT NULL, closed_boot_ns INTEGER NOT NULL,\n"
    "  side TEXT,\n"
    "  service_id INTEGER NOT NULL REFERENCES services (id),\n"
    "  pid INTEGER, tid INTEGER,\n"
    "  local_address TEXT NOT NULL, local_port INTEGER NOT NULL,\n"
    "  remote_address TEXT NOT NULL, remote_port INTEGER NOT NULL,\n"
    "  netns INTEGER NOT NULL, cgroup INTEGER,\n"
    "  opened_ns INTEGER, established_ns INTEGER, closed_ns INTEGER NOT NULL,\n"
    "  outcome TEXT NOT NULL,\n"
    "  bytes_sent INTEGER NOT NULL, bytes_received INTEGER NOT NULL,\n"
    "  retransmitted INTEGER NOT NULL, rtt_us INTEGER,\n"
    "  first_sent INTEGER, first_received INTEGER,\n"
    "  UNIQUE (socket_cookie, closed_boot_ns));\n"
    "CREATE INDEX connections_service ON connections (service_id);\n"
    "CREATE VIEW connection_ends AS\n"
    "  SELECT client.id AS client_id, server.id AS server_id,\n"
    "    caller.name AS caller, callee.name AS callee,\n"
    "    client.remote_address AS address, client.remote_port AS port,\n"
    "    client.opened_ns AS opened_ns,\n"
    "    client.established_ns - client.opened_ns AS connect_ns,\n"
    "    client.closed_ns - client.opened_ns AS duration_ns,\n"
    "    client.bytes_sent AS sent, server.bytes_received AS received,\n"
    "    server.bytes_sent AS answered, client.bytes_received AS answer_received,\n"
    "    client.outcome AS client_outcome, server.outcome AS server_outcome\n"
    "  FROM connections AS client\n"
    "  JOIN connections AS server ON server.first_received = client.first_sent\n"
    "    AND server.first_sent = client.first_received\n"
    "    AND server.local_port = client.remote_port AND server.remote_port = client.local_port\n"
    "    AND server.local_address = client.remote_address\n"
    "    AND server.remote_address = client.local_address\n"
    "  JOIN services AS caller ON caller.id = client.service_id\n"
    "  JOIN services AS callee ON callee.id = server.service_id\n"
    "  WHERE client.side = 'client' AND server.side = 'server';\n"
    "CREATE VIEW calls_by_position AS\n"
    "  SELECT client.id AS client_id, server.id AS server_id,\n"
    "    client.start_ns AS start_ns, caller.name AS caller, callee.name AS callee,\n"
    "    server.method AS method, server.route AS route, server.status AS status,\n"
    "    client.duration_ns AS client_ns, server.duration_ns AS server_ns\n"
    "  FROM spans AS client\n"
    "  JOIN spans AS server ON server.position = client.position\n"
    "    AND server.local_port = client.remote_port AND server.remote_port = client.local_port\n"
    "    AND server.local_address = client.remote_address\n"
    "    AND server.remote_address = client.local_address\n"
    "    AND server.start_ns BETWEEN client.start_ns AND client.start_ns + client.duration_ns\n"
    "  JOIN services AS caller ON caller.id = client.service_id\n"
    "  JOIN services AS callee ON callee.id = server.service_id\n"
    "  WHERE client.kind = 3 AND server.kind = 2 AND client.forwarded = 0;\n"
    /*
     * Requests and calls in the order of time, with the number of requests that are open in the
     * thread, and in the process, and the sum of their ids: that is the id where there is one.
     * Nobody is believed where a thread has two at once, which it may hand to others, or where one
     * is open that is no known process's but came to a port of this one.
     */
    "CREATE VIEW inferred AS\n"
    "  WITH requests (pid, tid, id, taken, ended, strange) AS (\n"
    "    SELECT pid, tid, id, start_ns + coalesce(taken_ns, 0), start_ns + duration_ns, 0\n"
    "    FROM spans WHERE kind = 2 AND pid IS NOT NULL\n"
    "    UNION ALL\n"
    "    SELECT servers.pid, 0, id, start_ns, start_ns + duration_ns, 1 FROM spans\n"
    "    JOIN (SELECT DISTINCT pid, netns, local_port FROM spans\n"
    "      WHERE kind = 2 AND pid IS NOT NULL) AS servers USING (netns, local_port)\n"
    "    WHERE kind = 2 AND spans.pid IS NULL),\n"
    "  steps (pid, tid, at, turn, change, request, strange, call) AS (\n"
    "    SELECT pid, tid, taken, 1, 1, id, strange, NULL FROM requests\n"
    "    UNION ALL\n"
    "    SELECT pid, tid, ended, 3, -1, -id, -strange, NULL FROM requests\n"
    "    UNION ALL\n"
    "    SELECT pid, tid, start_ns, 2, 0, 0, 0, id FROM spans\n"
    "      WHERE kind = 3 AND pid IS NOT NULL),\n"
    "  threads AS (\n"
    "    SELECT *, sum(change) OVER thread AS in_thread, sum(request) OVER thread AS own\n"
    "    FROM steps WINDOW\n"
    "      thread AS (PARTITION BY pid, tid ORDER BY at, turn ROWS UNBOUNDED PRECEDING)),\n"
    "  moments AS (\n"
    "    SELECT call, in_thread, own, sum(change) OVER process AS in_process,\n"
    "      sum(request) OVER process AS only,\n"
    "      sum(strange + (change = 1 AND in_thread = 2) - (change = -1 AND in_thread = 1))\n"
    "        OVER process AS doubts\n"
    "    FROM threads WINDOW\n"
    "      process AS (PARTITION BY pid ORDER BY at, turn ROWS UNBOUNDED PRECEDING))\n"
    "  SELECT call AS call_id, iif(in_thread = 1, own, only) AS request_id,\n"
    "    iif(in_thread = 1, 'thread', 'process') AS evidence\n"
    "  FROM moments WHERE call IS NOT NULL AND doubts = 0\n"
    "    AND (in_thread = 1 OR (in_thread = 0 AND in_process = 1));\n";

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

/* As a whole or not at all. */
static int create(sqlite3 *db)
{
	char version[40];
	int err = run(db, "BEGIN IMMEDIATE");

	if (err)
		return err;
	snprintf(version, sizeof(version), "PRAGMA user_version = %d", SCHEMA_VERSION);
	err = run(db, create_sql);
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

	if (err || version == SCHEMA_VERSION)
		return err;
	return version ? -EPROTO : create(db);
}
