# SPDX-License-Identifier: Apache-2.0
"""/api/v1/ tells what is in the store, and quickly."""
import concurrent.futures
import contextlib
import json
import re
import sqlite3
import time
import urllib.parse

import demo
from filled import fill, fill_one_trace
from world import MANY, PORT, RAW, SCRIPT, equal

LIMIT_S = 0.2
TRIES, TRIES_MAX = 3, 30
PATIENCE_S = 5  # after that an answer is 503
CROWD = 6  # who ask at a time
FAT, CUT, FAT_ID = 300_000, 5_000, "fa" * 16
BAD = ("traces?limit=0", "traces?limit=501", "traces?limit=x", "traces?cursor=-1", "traces?slow=fast",
       "traces?status=999", "traces?last=soon", "traces?kind=other", "traces?order=any", "traces/00",
       "traces/" + "g" * 32, "endpoints?last=2d", "endpoints?last=25h", "map?last=0s")
QUESTIONS = ("traces", "traces?limit=100&service=svc1", "traces?status=5xx", "traces?endpoint=/nope*",
             "traces?slow=100s", "traces?order=slowest&last=1h",
             "traces?order=slowest&service=svc1&route=/r1/{id}&method=GET&kind=server", "endpoints",
             "map", "map?last=1h")


def told(world, *argv):
    """What `ctxprop trace` tells."""
    return json.loads(world.agent.command("trace", "--store", world.store, "-j", "-n", "1000", *argv))


def pages(world, limit):
    """Ids of all pages, one after the other."""
    cursor, ids = "", []
    while cursor is not None:
        page = world.api(f"traces?limit={limit}{cursor}")
        ids += [trace["trace_id"] for trace in page["traces"]]
        cursor = f"&cursor={page['next']}" if "next" in page else None
    return ids


def case_pages(world):
    """page after page has every trace once, the newest first"""
    ids = [trace["trace_id"] for trace in reversed(told(world))]
    assert len(ids) > world.requests, ids
    for limit in (1, 7, 500):
        equal(pages(world, limit), ids, f"pages of {limit}")


def case_filters(world):
    """filters find what `ctxprop trace` finds"""
    slow = sorted(trace["duration_ns"] for trace in world.api("traces?limit=500")["traces"])[-5]
    for words, argv in (("endpoint=/many", ("--endpoint", "/many")), ("status=2xx", ("--status", "2xx")),
                        ("service=service", ("--service", "service")), ("errors=1", ("--errors",)),
                        ("status=404", ("--status", "404")), ("slow=1h", ("--slow", "1h")),
                        ("last=1h", ("--last", "1h"))):
        found = {trace["trace_id"] for trace in world.api(f"traces?limit=500&{words}")["traces"]}
        equal(found, {trace["trace_id"] for trace in told(world, *argv)}, words)
    many = world.api("traces?limit=500&service=nginx&route=/many&method=GET&kind=server")["traces"]
    equal(len(many), MANY, "traces of /many")
    slowest = [t["duration_ns"] for t in world.api("traces?limit=5&order=slowest")["traces"]]
    equal((slowest, slowest[-1]), (sorted(slowest, reverse=True), slow), "the slowest ones")


def case_trace(world):
    """a trace has the spans that `ctxprop trace ID` tells, an unknown one is 404"""
    one = told(world, "--endpoint", "/many")[0]
    equal(world.api(f"traces/{one['trace_id']}"), one, "a trace")
    equal(world.ask("/api/v1/traces/" + "f" * 32)[0], 404, "no trace")


def case_endpoints(world):
    """endpoints have the counts of the traffic, in all and by the minute"""
    for last, points, step in (("1us", 1, 60), ("60s", 1, 60), ("61s", 2, 60), ("1h", 60, 60),
                               ("24h", 60, 1440)):
        answer = world.api(f"endpoints?last={last}")
        equal((answer["points"], answer["step"]), (points, step), f"points and step of {last}")
    answer = world.api("endpoints?last=15m")
    rows = {(e["service"], e["kind"], e["route"]): e for e in answer["endpoints"]}
    for service, kind, route, count in (
            ("nginx", "server", "/many", MANY), ("nginx", "client", "/many", MANY),
            ("service", "server", "/hello", 3), ("service", "client", "/kept/hello", 3),
            ("nginx", "server", "/users/{id}", 3), ("nginx", "server", SCRIPT, 1)):
        row = rows[service, kind, route]
        equal((row["count"], row["errors"]), (count, 0), f"{service} {route}")
        equal(sum(row["points"]["count"]), count, f"{service} {route} by the minute")
        assert 0 < row["p50_ns"] <= row["p99_ns"] <= row["max_ns"], row
        assert abs(row["rate"] * answer["seconds"] - count) < 0.5, row
    spans = [span["duration_ns"] for trace in told(world, "--endpoint", "/many")
             for span in trace["spans"] if (span["service"], span["kind"]) == ("nginx", "server")]
    exact = sorted(spans)[len(spans) // 2 - 1]
    assert abs(rows["nginx", "server", "/many"]["p50_ns"] / exact - 1) < 0.15, (exact, sorted(spans))


def case_owners(world):
    """the store knows whose each name is: a container's, or the user's that runs it"""
    with contextlib.closing(sqlite3.connect(f"file:{world.store}?mode=ro", uri=True)) as db:
        owners = dict(db.execute("SELECT name, owner FROM services WHERE name != ''"))
    assert {"nginx", "service"} <= owners.keys(), owners
    assert all(re.fullmatch("uid [0-9]+|[0-9a-f]{64}", owner) for owner in owners.values()), owners


def case_map(world):
    """the map has the calls of the traffic"""
    edges = {(e["caller"], e["callee"]): e for e in world.api("map")["edges"]}
    outside = f"{demo.OUTSIDE}:{world.recorder.port}"
    front, inner = edges[demo.CLIENT, "nginx"], edges["nginx", "service"]
    assert front["from_outside"] and not front["to_outside"] and not inner["to_outside"], edges
    assert inner["count"] == front["count"] >= world.requests, edges
    equal((edges["service", outside]["count"], edges["service", outside]["to_outside"]),
          (2 * front["count"], True), "calls outside")


def case_policy(world):
    """the rules, in their order, with what they have decided"""
    world.agent.command("policy", "add", "dir", "out", "host", "*.partner.example", "action", "skip")
    rules = world.api("policy")["rules"]
    equal([(rule["action"], rule["builtin"]) for rule in rules],
          [("skip", False)] + [(rule["action"], True) for rule in rules[1:]], "rules")
    equal((rules[0]["rule"], rules[0]["hits"]),
          ("dir out host *.partner.example action skip", 0), "the new rule")
    assert sum(rule["hits"] for rule in rules) >= 2 * world.requests, rules


def case_strangers(world):
    """bytes that are no text are shown as such, and nothing else is lost by them"""
    wanted = RAW.decode(errors="replace")
    paths = [trace["first"]["path"] for trace in world.api("traces?limit=500")["traces"]]
    equal((paths.count(wanted), paths.count(SCRIPT)), (1, 1), "paths of strangers")
    found = world.api("traces?endpoint=" + urllib.parse.quote(RAW.split(b"\\")[0]) + "*")["traces"]
    equal(len(found), 1, "traces by these bytes")


def case_refused(world):
    """questions that nobody understands are answered with what was expected"""
    for path in BAD:
        status, headers, body = world.ask("/api/v1/" + path)
        equal((status, headers["Content-Type"]), (400, "application/json"), path)
        assert json.loads(body)["error"], body


def fastest(world, path):
    """Seconds of the fastest of some tries, of more where they are slow: others use this machine,
    too."""
    took = []
    while len(took) < TRIES or (min(took) >= LIMIT_S and len(took) < TRIES_MAX):
        begin = time.monotonic()
        world.api(path)
        took.append(time.monotonic() - begin)
    return min(took)


@contextlib.contextmanager
def filled(world, fill_it):
    """The agent with a store of its own, which was filled before."""
    store = world.folder / "filled.db"
    world.agent.stop()
    world.agent.start("--store", store)
    world.agent.stop()
    fill_it(store)
    world.agent.start("--store", store)
    world.app.wait_port(PORT)
    try:
        yield
    finally:
        world.agent.stop()
        for part in world.folder.glob("filled.db*"):
            part.unlink()
        world.agent.start()
        world.app.wait_port(PORT)


def case_speed(world):
    """with 100,000 spans every answer takes less than 200 ms"""
    with filled(world, lambda store: fill(store, 100_000)):
        for path in QUESTIONS:
            took = fastest(world, path)
            print(f"    {took * 1000:6.0f} ms  {path}", flush=True)
            assert took < LIMIT_S, f"{path}: {took:.3f} s"


def case_fat_trace(world):
    """a trace of 300,000 spans, as a stranger makes it, is cut, and keeps nobody from the others"""
    with filled(world, lambda store: (fill(store, 1000), fill_one_trace(store, FAT))):
        for path in ("traces", "traces?order=slowest", "traces?order=slowest&limit=500", "traces?limit=500", "traces?endpoint=/fat/*"):
            begin = time.monotonic()
            page = world.api(path)["traces"]
            took = time.monotonic() - begin
            print(f"    {took * 1000:6.0f} ms  {path}", flush=True)
            assert took < PATIENCE_S, f"{path}: {took:.3f} s"
            one, = [trace for trace in page if trace["trace_id"] == FAT_ID]
            equal((one["spans"], one["partial"]), (FAT, True), "spans of the list")
            others = 0 if "endpoint" in path else 49 if "500" not in path else 200
            equal(len(page), 1 + others, f"traces of {path}")
            assert not any("partial" in trace for trace in page if trace is not one), page
        older = world.api("traces?limit=1")
        assert older["traces"][0]["trace_id"] == FAT_ID, older
        after = world.api(f"traces?limit=500&cursor={older['next']}")["traces"]
        equal((len(after), FAT_ID in {trace["trace_id"] for trace in after}), (200, False), "next page")
        _, _, body = world.ask("/api/v1/traces/" + FAT_ID)
        one = json.loads(body)
        equal((len(one["spans"]), one["left_out"]), (CUT, FAT - CUT), "spans of the trace")
        newest = max(span["start_ns"] for span in one["spans"])
        assert newest - min(span["start_ns"] for span in one["spans"]) == CUT - 1, "the newest ones"
        assert len(body) < 8_000_000, len(body)
        text = world.agent.command("trace", "--store", world.folder / "filled.db", FAT_ID)
        assert f"{FAT - CUT} more spans that ended earlier are not shown" in text, text[:300]
        equal(len(text.splitlines()), CUT + 3, "lines of ctxprop trace")


def case_patterns(world):
    """patterns that take long are refused, or end in time; so does the daemon meanwhile"""
    with filled(world, lambda store: fill(store, 100_000, "/" + "a" * 900)):
        for pattern in (f"*[{'a' * 13_000}]z", "*a" * 101, "?" * 201):
            status, _, body = world.ask("/api/v1/traces?endpoint=" + urllib.parse.quote(pattern))
            equal(status, 400, body)
        slow = "/api/v1/traces?endpoint=" + urllib.parse.quote(f"*[{'b' * 194}]z")
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(CROWD) as crowd:
            answers = [crowd.submit(world.ask, slow) for _ in range(CROWD)]
            time.sleep(1)
            for path in ("/healthz", "/readyz", "/metrics"):
                asked = time.monotonic()
                equal(world.ask(path)[0], 200, f"{path} meanwhile")
                took = time.monotonic() - asked
                assert took < 1, f"{path} took {took:.1f} s"
            states = {answer.result()[0] for answer in answers}
        took = time.monotonic() - begin
        print(f"    {took:.1f} s for {CROWD} of them: {states}", flush=True)
        assert states <= {200, 503} and took < 4 * PATIENCE_S, (states, took)
        with concurrent.futures.ThreadPoolExecutor(CROWD) as crowd:
            answers = [crowd.submit(world.ask, slow) for _ in range(CROWD)]
            time.sleep(1)
            begin = time.monotonic()
            equal(world.agent.stop(), 0, "exit status")
            took = time.monotonic() - begin
        assert took < 3, f"the end took {took:.1f} s"
