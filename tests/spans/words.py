# SPDX-License-Identifier: Apache-2.0
"""What the commands say of spans whose truth is known."""
import contextlib
import json
import re
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

from waiting import wait_until

REPO = Path(__file__).resolve().parents[2]
MAY_BE_EMPTY = ("header <> 'injected'", "veto IS NOT NULL", "outcome <> 'closed'")


def documented_queries():
    return re.findall(r"^```sql\n(.*?)^```", (REPO / "docs/schema.md").read_text(), re.M | re.S)


def across_nodes(what):
    """The documented query that joins the stores of two nodes: "calls" or "ends"."""
    table = {"calls": "other.spans", "ends": "other.connections"}[what]
    (query,) = [query for query in documented_queries() if table in query]
    return query


def both(scene):
    """One store with the spans of both hosts, as one daemon for both would have made it."""
    path, here, there = scene.folder / "both.db", *scene.stores.values()
    with contextlib.closing(sqlite3.connect(here)) as db, \
            contextlib.closing(sqlite3.connect(path)) as copy:
        db.backup(copy)
        copy.execute("ATTACH ? AS other", (str(there),))
        copy.execute("INSERT INTO services SELECT id + 100, name, container, owner, bytes FROM other.services")
        for table in ("spans", "connections"):
            names = [row[1] for row in copy.execute(f"PRAGMA table_info({table})") if row[1] != "id"]
            theirs = [f"{name} + 100" if name == "service_id" else name for name in names]
            copy.execute(f"INSERT INTO {table} ({', '.join(names)}) "
                         f"SELECT {', '.join(theirs)} FROM other.{table}")
        copy.commit()
    return path


UPGRADED = """
import socket, sys
with socket.create_server(("", 8001)) as listener:
    print("ready", flush=True)
    while True:
        stream = listener.accept()[0]
        stream.recv(4096)
        stream.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: x\\r\\n\\r\\n")
        stream.sendall(stream.recv(4096))
        stream.close()
"""


def check_upgrade(scene, check):
    """A request that asks for another protocol is answered by that: no error."""
    server = scene.upstream.spawn([sys.executable, "-c", UPGRADED], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    with scene.app.inside():
        stream = socket.create_connection(("10.97.2.2", 8001), timeout=10)
    stream.sendall(b"GET /socket HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
    stream.recv(4096)
    stream.sendall(b"hello")
    check.compare("-", "what comes back of another protocol", stream.recv(4096), b"hello")
    stream.close()
    for host, kind in ((scene.app, 3), (scene.upstream, 2)):
        wait_until(lambda host=host, kind=kind: (kind, "socket") in scene.spans(host),
                   "the span of the upgrade")
        (span,) = scene.spans(host)[kind, "socket"]
        check.compare("-", "an upgrade", (span["status"], span["outcome"]), (101, "answered"))


def check_words(scene, check):
    """Run the queries of docs/schema.md, `ctxprop trace` and `why` on the app's store."""
    agent, store = scene.agents[scene.app], scene.stores[scene.app]

    def ask(*argv, complaint=True, store=store):
        ran = scene.app.run([f"{scene.build}/ctxprop", argv[0], "--store", store, *argv[1:]],
                            check=False)
        if complaint and ran.returncode:
            check.wrong.append(f"{argv}: {ran.stderr}")
        return ran.stdout

    queries, store_of_both = documented_queries(), both(scene)
    check.compare("-", "queries in docs/schema.md", len(queries), 20)
    for query in queries:
        if "other." in query:
            rows = json.loads(ask("sql", "-j", "--attach", scene.stores[scene.upstream], query) or "[]")
        else:
            rows = json.loads(ask("sql", "-j", query, store=store_of_both) or "[]")
        if not rows and not any(text in query for text in MAY_BE_EMPTY):
            check.wrong.append(f"no rows: {query}")
    check_traces(check, ask)
    check_why(check, ask)
    check_upgrade(scene, check)
    check_sums(check, ask)
    check.compare("-", "said in the log", [line for line in agent.said().splitlines()
                                           if "not stored" in line], [])
    if "nobody" in ask("sql", "-o", "DELETE FROM spans RETURNING 'nobody'", complaint=False):
        check.wrong.append("the store can be changed by `ctxprop sql`")


def check_traces(check, ask):
    """The newest, one by its id, and filters that every number in a path tells the truth of."""
    newest = json.loads(ask("trace", "-j", "-n", "5"))
    check.compare("-", "newest traces", len(newest), 5)
    same = json.loads(ask("trace", "-j", newest[0]["trace_id"][:12]))
    check.compare("-", "a trace by its id", same, newest[:1])
    for status, argv in ((503, "503"), (500, "500")):
        found = json.loads(ask("trace", "-j", "-n", "100000", "--status", argv))
        wanted = sum(line["status"] == status for line in check.asked.values())
        check.compare("-", f"traces with status {argv}", len(found), wanted)
    found = json.loads(ask("trace", "-j", "-n", "100000", "--endpoint", "/api/7?"))
    check.compare("-", "traces of /api/7?", len(found), 10)
    tree = ask("trace", newest[0]["trace_id"])
    check.compare("-", "lines of a tree", len(tree.strip().splitlines()), 3)


def check_sums(check, ask):
    """What `top` and `map` count, in the minutes that the row takes."""
    count = len(check.asked)
    routes = {(line["kind"], line["route"]): line for line in json.loads(ask("top", "-j", "--last",
                                                                             "10m"))}
    missing = sum(line["status"] == 404 for line in check.asked.values())
    for key, wanted in ((("server", "/api/{id}"), count - missing), (("client", "/up/{id}"), count - missing),
                        (("server", "(not found)"), missing), (("client", "(not found)"), missing)):
        methods = [line for line in json.loads(ask("top", "-j", "--last", "10m"))
                   if (line["kind"], line["route"]) == key]
        check.compare("-", f"requests of {key} in top", sum(line["count"] for line in methods),
                      wanted)
    errors = sum(line["status"] >= 500 for line in check.asked.values())
    check.compare("-", "errors in top",
                  sum(line["errors"] for line in json.loads(ask("top", "-j", "--last", "10m"))
                      if line["kind"] == "server"), errors)
    check.compare("-", "routes in top", len(routes), 5)
    edges = {(edge["caller"], edge["callee"]): edge["count"]
             for edge in json.loads(ask("map", "-j")) if edge["count"] > 1}
    check.compare("-", "calls in map", edges, {("10.97.1.1", "truth-app"): count,
                                               ("truth-app", "truth"): count})


def check_why(check, ask):
    for words in (("10.97.2.2",), ("10.97.2.2:8000",)):
        told = ask("why", *words)
        check.compare("-", f"calls that why {words} tells of", told.count("\n  header  injected"),
                      10)
    for command in (("trace",), ("top",), ("map",), ("why", "10.97.2.2"), ("sql", "SELECT 1")):
        check.compare("-", f"JSON of {command}", len(json.loads(ask(*command, "-j"))) > 0, True)
    check.compare("-", "why of a host that nobody called",
                  ask("why", "192.0.2.1"), "no request of 192.0.2.1 is in the store\n")
