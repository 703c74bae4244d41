# SPDX-License-Identifier: Apache-2.0
"""A store full of spans of the last hour."""
import contextlib
import random
import sqlite3
import time

SERVICES, ROUTES, DEPTH = 10, 20, 5
HOUR_NS = 3600 * 10**9
MINUTE_NS = 60 * 10**9
COLUMNS = ("trace_id span_id parent_id kind start_ns duration_ns first_byte_ns service_id method path "
           "route host user_agent status outcome error local_address local_port remote_address "
           "remote_port netns pid tid request_bytes response_bytes reused forwarded header evidence")


def spans_of(number, end_ns, rng, prefix):
    """The spans of one trace, each the parent of the next one."""
    trace, parent = rng.randbytes(16), None
    for depth in range(DEPTH):
        span, took = rng.randbytes(8), int(rng.lognormvariate(16, 1))
        status = 500 if rng.random() < 0.01 else 200
        yield (trace, span, parent, 2 + depth % 2, end_ns - took, took, took // 2,
               1 + (number + depth // 2) % SERVICES, "GET", f"{prefix}/r{number % ROUTES}/{number}",
               f"/r{number % ROUTES}/{{id}}", "shop.example", "curl/7.88", status, "answered",
               int(status == 500), "10.0.0.1", 80, "10.0.0.2", 5000, 1, 100, 100, 100, 1000, 1, 0,
               "injected", "by-thread")
        parent = span


def minutes_of(spans):
    """Rows of the table `endpoints`; all durations are in one bucket, which is as good as any."""
    rows = {}
    for span in spans:
        row = rows.setdefault(((span[4] + span[5]) // MINUTE_NS, span[7], span[3], "GET", span[10]),
                              [0, 0, 0, 0])
        row[:] = row[0] + 1, row[1] + span[15], row[2] + span[5], max(row[3], span[5])
    return [(*key, *row, bytes([120]) + row[0].to_bytes(4, "little")) for key, row in rows.items()]


def insert(db, spans):
    names = COLUMNS.split()
    db.executemany(f"INSERT INTO spans ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                   spans)


def fill(path, count, prefix=""):
    """Add so many spans to a store that ctxpropd has made; their paths begin so."""
    rng, now = random.Random(1), time.time_ns()
    traces = count // DEPTH
    spans = [span for number in range(traces)
             for span in spans_of(number, now - HOUR_NS + HOUR_NS * number // traces, rng, prefix)]
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executemany("INSERT INTO services (id, name, container) VALUES (?, ?, '')",
                       [(number, f"svc{number}") for number in range(1, SERVICES + 1)])
        insert(db, spans)
        db.executemany(f"INSERT INTO endpoints VALUES ({', '.join('?' * 10)})", minutes_of(spans))
        db.commit()


def fill_one_trace(path, count):
    """Add so many spans of one trace, each a nanosecond later than the one before, which all took
    longer than any other."""
    rng, now = random.Random(2), time.time_ns()
    like = next(spans_of(0, now, rng, ""))
    with contextlib.closing(sqlite3.connect(path)) as db:
        insert(db, ((b"\xfa" * 16, rng.randbytes(8), None, 2, now + number, 3600 * 10**9, *like[6:9],
                     f"/fat/{number}", *like[10:]) for number in range(count)))
        db.commit()
