#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""W3C Trace Context, end to end: a service that copies no field, traced by nothing but ctxprop,
behaves as a participant has to. The cases stand in cases.txt.

    conformance.py [--build DIR] [NAME...]
"""
import argparse
import contextlib
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

import table  # noqa: E402
from agent import Agent  # noqa: E402
from http1 import Reader, read_body, read_head  # noqa: E402
from lab import Lab  # noqa: E402
from recorder import Recorder  # noqa: E402

APP, UPSTREAM, PORT = "10.94.0.2", "10.95.0.2", 8080
LOOPBACK = "127.0.0.1"
TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
NEW_FLAGS = "03"  # of a trace that begins here: sampled, random
CALLS = 3         # of the service, for each request
PIECE = 7         # bytes in a packet, when heads come in pieces
PAUSE = 0.001     # seconds between packets that must not become one


def mistakes(case, heads):
    """What the outgoing requests of one case do wrong, one text each."""
    found, traces, spans = [], set(), set()
    for head in heads:
        texts = head.all("traceparent")
        parts = TRACEPARENT.fullmatch(texts[0]) if len(texts) == 1 else None
        if not parts:
            found.append(f"expected one traceparent, got {texts}")
            continue
        traces.add(parts[1])
        spans.add(parts[2])
        found += wrong_ids(case, *parts.groups()) + wrong_state(case, head.all("tracestate"))
    if not found and len(heads) > 1 and (len(traces) > 1 or len(spans) < len(heads)):
        found.append(f"{len(heads)} calls: trace ids {sorted(traces)}, parent ids {sorted(spans)}")
    return found


def wrong_ids(case, trace, span, flags):
    found, parents = [], case.parents()
    if trace == "0" * 32 or span == "0" * 16 or span in [parent for _, parent in parents]:
        found.append(f"parent id {span} in trace {trace} is not a new one")
    if (trace in [known for known, _ in parents]) != case.kept:
        found.append(f"trace id {trace} should be {'kept' if case.kept else 'new'}")
    wanted = case.flags or (None if case.kept else NEW_FLAGS)
    if wanted and flags != wanted:
        found.append(f"flags {flags}, should be {wanted}")
    return found


def wrong_state(case, texts):
    got = [member for text in texts for member in table.members(text)]
    if texts and not got:
        return [f"an empty tracestate: {texts}"]
    if any(text != text.strip(" \t,") for text in texts):
        return [f"blanks or commas around a tracestate: {texts}"]
    if got in (case.states or [[]]):
        return []
    return [f"tracestate {got}, should be {' or '.join(map(str, case.states or [[]]))}"]


class World:
    """client -> app, with the agent -> upstream."""

    def __init__(self, lab, build):
        client, app, upstream = (lab.host(name) for name in ("client", "app", "upstream"))
        lab.link(client, app, "10.94.0.1/24", f"{APP}/24")
        lab.link(app, upstream, "10.95.0.1/24", f"{UPSTREAM}/24")
        self.begin(build, client, app, APP, upstream, UPSTREAM)

    def begin(self, build, client, app, address, upstream, upstream_address):
        self.client, self.address = client, address
        self.recorder = Recorder(upstream, upstream_address)
        self.agent = Agent(app, build)
        app.spawn(["/usr/bin/python3", "-B", HERE / "service.py", PORT, upstream_address,
                   self.recorder.port])
        app.wait_port(PORT)

    def connect(self):
        with self.client.inside():
            connection = socket.create_connection((self.address, PORT), timeout=20)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def exchange(self, connection, case, calls, piece=None):
        """Send the request of a case; returns the heads that the upstream got for it."""
        self.recorder.clear()
        lines = [f"GET /{case.name}/{calls} HTTP/1.1", "Host: service", *case.fields]
        send(connection, ("\r\n".join(lines) + "\r\n\r\n").encode("ascii"), piece)
        reader = Reader(connection.recv)
        read_body(reader, read_head(reader))
        got = [request.head for request in self.recorder.requests
               if request.target.startswith(f"/{case.name}/")]
        if len(got) != calls:
            raise RuntimeError(f"{case.name}: {len(got)} of {calls} calls arrived")
        return got


class OneHost(World):
    """All three on the loopback of one host: the agent sees the requests of the client leave, too,
    and adds what these lack."""

    def __init__(self, lab, build):
        host = lab.host("single")
        self.begin(build, host, host, LOOPBACK, host, LOOPBACK)


def send(connection, data, piece):
    """All at once, or in packets of `piece` bytes."""
    for start in range(0, len(data), piece or len(data)):
        connection.sendall(data[start:start + (piece or len(data))])
        if piece:
            time.sleep(PAUSE)


@contextlib.contextmanager
def ways(world, single):
    """[(how, exchange of a case)]: connections of their own, one that is kept, heads in pieces, and
    all on one host."""
    kept = world.connect()

    def fresh(case, where=world):
        with contextlib.closing(where.connect()) as connection:
            return where.exchange(connection, case, CALLS)

    def pieces(case):
        with contextlib.closing(world.connect()) as connection:
            return world.exchange(connection, case, 1, PIECE)

    with contextlib.closing(kept):
        yield [("alone", fresh), ("kept alive", lambda case: world.exchange(kept, case, 1)),
               ("in pieces", pieces), ("on one host", lambda case: fresh(case, single))]


def run(cases, build):
    """All cases in all ways; returns how many failed."""
    failed = 0
    with Lab("w3c") as lab, ways(World(lab, build), OneHost(lab, build)) as all_ways:
        for case in cases:
            found = [f"{how}: {text}" for how, exchange in all_ways
                     for text in mistakes(case, exchange(case))]
            print(f"{'not ok' if found else 'ok'} - {case.name}: {case.title}", flush=True)
            print("".join(f"# {line}\n" for line in found), end="", flush=True)
            failed += bool(found)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of cases' names")
    args = parser.parse_args()
    cases = [case for case in table.read()
             if not args.names or any(name in case.name for name in args.names)]
    if not cases:
        sys.exit(f"conformance.py: no case has {' or '.join(args.names)} in its name")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    failed = run(cases, os.path.abspath(args.build))
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
