# SPDX-License-Identifier: Apache-2.0
"""Calls that carry an x-request-id: what a stranger can do who knows, or guesses, the next ones."""
import contextlib
import os
import socket
import sys
from pathlib import Path

from cases import case, equal
from following import known_as
from test_shares import serving, upstream
from waiting import wait_until
from worlds import Pair, common

PROGRAM = Path(__file__).parent / "programs/jobs.py"
JOBS, COPIES = 12, 8  # habit copies-ids (engine/rules.h)
PORTS = iter(range(8200, 8300))


@contextlib.contextmanager
def service():
    """The service in `app`, of which is known what it runs; its port."""
    upstream().clear()
    port = next(PORTS)
    with serving(port, sys.executable, "-B", PROGRAM, str(port)) as process:
        known_as(process.pid)
        yield port


def send(port, path, request_id=None, address=Pair.APP):
    """A request on a connection of its own: (the connection, its trace)."""
    trace = os.urandom(16).hex()
    named = f"x-request-id: {request_id}\r\n" if request_id else ""
    with common().peer.inside():
        made = socket.create_connection((address, port), timeout=20)
    made.sendall(f"GET {path} HTTP/1.1\r\nHost: app\r\n{named}"
                 f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
    return made, trace


def ask(port, path, request_id=None):
    made, trace = send(port, path, request_id)
    with made:
        equal(made.makefile("rb").read()[:12], b"HTTP/1.0 200", "answer")
    return trace


@contextlib.contextmanager
def held(port, ids, address=Pair.APP):
    """A stranger's requests with these ids, that stay open: their traces."""
    with contextlib.ExitStack() as stack:
        traces = set()
        for request_id in ids:
            made, trace = send(port, "/hold", request_id, address)
            stack.enter_context(made)
            traces.add(trace)
        yield traces


def called(ids):
    """The traces that the calls with these ids went out with, by id, once all are there."""
    def found():
        return {r.head.get("x-truth"): r.traceparents[0].split("-")[1] for r in upstream().requests}

    wait_until(lambda: set(ids) <= found().keys(), lambda: f"calls: {len(found())}")
    return {request_id: found()[request_id] for request_id in ids}


def ids(name, count=JOBS):
    return [f"{name}-{i:0{15 - len(name)}}" for i in range(count)]


def copies(port, name, count=4 * COPIES):
    """The service is seen to give calls the ids of their requests; of whoever asks."""
    for request_id in ids(name, count):
        ask(port, "/own", request_id)


def taken(port, name):
    """How many calls of others' jobs carry a stranger's trace, who holds their ids."""
    wanted = ids(name)
    with held(port, wanted) as strangers:
        for job in wanted:
            ask(port, f"/job/{job}")
        return sum(trace in strangers for trace in called(wanted).values())


@case(slow=True)
def guessed():
    """A stranger brings the ids that a service will give to calls of its own: they are not his."""
    with service() as port:
        equal(taken(port, "guess"), 0, "calls in the stranger's traces")


@case(slow=True)
def shown_and_guessed():
    """The same, and he has made it copy ids of his before."""
    with service() as port:
        for job in ids("honest"):
            ask(port, f"/job/{job}")
        copies(port, "his")
        equal(taken(port, "guess"), 0, "calls in the stranger's traces")


@case(slow=True)
def brought_by_others():
    """He brings an id that somebody else's request has brought, of which a call is left to be made."""
    with service() as port:
        copies(port, "shown")
        wanted = ids("other")
        for job in wanted:
            ask(port, "/own", job)
        upstream().clear()
        with held(port, wanted, Pair.APP6) as strangers:
            for job in wanted:
                ask(port, f"/later/{job}")
            wrong = sum(trace in strangers for trace in called(wanted).values())
        equal(wrong, 0, "calls in the stranger's traces")


@case(slow=True)
def copied():
    """A service that gives its calls the ids of their requests is believed, once it has shown it."""
    with service() as port:
        copies(port, "shown")
        wanted = ids("copied")
        with held(port, ids("held")):
            traces = {job: ask(port, f"/job/{job}", job) for job in wanted}
            equal(called(wanted), traces, "the traces of calls")
