-- SPDX-License-Identifier: Apache-2.0
-- A store of version 1, with a request and the call that it has made.
CREATE TABLE services (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  container TEXT NOT NULL,
  UNIQUE (name, container));
CREATE TABLE spans (
  id INTEGER PRIMARY KEY,
  trace_id BLOB NOT NULL,
  span_id BLOB NOT NULL,
  parent_id BLOB,
  kind INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  first_byte_ns INTEGER,
  service_id INTEGER NOT NULL REFERENCES services (id),
  method TEXT, path TEXT, route TEXT, host TEXT, user_agent TEXT,
  status INTEGER,
  outcome TEXT NOT NULL,
  error INTEGER NOT NULL,
  local_address TEXT NOT NULL, local_port INTEGER NOT NULL,
  remote_address TEXT NOT NULL, remote_port INTEGER NOT NULL,
  netns INTEGER NOT NULL,
  pid INTEGER, tid INTEGER,
  request_bytes INTEGER, response_bytes INTEGER,
  reused INTEGER NOT NULL,
  forwarded INTEGER NOT NULL,
  header TEXT, evidence TEXT, veto TEXT);
CREATE UNIQUE INDEX spans_ids ON spans (trace_id, span_id);
CREATE INDEX spans_start ON spans (start_ns);
CREATE TABLE endpoints (
  minute INTEGER NOT NULL,
  service_id INTEGER NOT NULL REFERENCES services (id),
  kind INTEGER NOT NULL,
  method TEXT NOT NULL, route TEXT NOT NULL,
  count INTEGER NOT NULL, errors INTEGER NOT NULL,
  total_ns INTEGER NOT NULL, longest_ns INTEGER NOT NULL,
  durations BLOB NOT NULL,
  PRIMARY KEY (minute, service_id, kind, method, route)) WITHOUT ROWID;
CREATE VIEW traces AS
  SELECT lower(hex(trace_id)) AS trace, min(start_ns) AS start_ns,
    max(start_ns + duration_ns) - min(start_ns) AS duration_ns,
    count(*) AS spans, sum(error) AS errors,
    count(DISTINCT service_id) AS services
  FROM spans GROUP BY trace_id;
CREATE VIEW calls AS
  SELECT lower(hex(client.trace_id)) AS trace, client.start_ns AS start_ns,
    caller.name AS caller, callee.name AS callee,
    server.method AS method, server.route AS route, server.status AS status,
    client.duration_ns AS client_ns, server.duration_ns AS server_ns
  FROM spans AS client
  JOIN spans AS server ON server.trace_id = client.trace_id
    AND server.parent_id = client.span_id AND server.kind = 2
  JOIN services AS caller ON caller.id = client.service_id
  JOIN services AS callee ON callee.id = server.service_id
  WHERE client.kind = 3;
INSERT INTO services VALUES (1, 'shop', '');
INSERT INTO spans (id, trace_id, span_id, parent_id, kind, start_ns, duration_ns, service_id, method, path, route, status,
  outcome, error, local_address, local_port, remote_address, remote_port, netns, pid, tid, reused, forwarded)
VALUES
  (1, x'0102030405060708090a0b0c0d0e0f10', x'0000000000000002', x'0000000000000001', 3, 1100, 200, 1, 'GET', '/b', '/b', 200,
   'answered', 0, '10.0.0.1', 4000, '10.0.0.2', 80, 7, 30, 31, 0, 0),
  (2, x'0102030405060708090a0b0c0d0e0f10', x'0000000000000001', NULL, 2, 1000, 400, 1, 'GET', '/a', '/a', 200,
   'answered', 0, '10.0.0.1', 80, '10.0.0.9', 5000, 7, 30, 31, 0, 0);
INSERT INTO endpoints VALUES (0, 1, 2, 'GET', '/a', 1, 0, 400, 400, x'0001000000');
PRAGMA user_version = 1;
