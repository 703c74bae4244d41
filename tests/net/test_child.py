# SPDX-License-Identifier: Apache-2.0
"""Requests that belong to an incoming one: what is injected, by what the probes say of the socket.

What the probes would say is put into the socket's storage here, so that each of it can be tried:
a call that is outstanding already is none that they make.
"""
import contextlib
import os
import re
from pathlib import Path

from bpf_map import Map
from cases import case, equal
from messages import GET, OK
from queues import next_to_send
from following import VETO_NO_EVIDENCE, begin_call, netns_of, open_requests
from streams import joined, receive, send_through
from worlds import Pair, common, counted

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
LINE = re.compile(rb"traceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})\r\n")
STATE = re.compile(rb"tracestate:  ?([^\r\n]*)\r\n")


@contextlib.contextmanager
def working(*fields, flags="01"):
    """The world, the open request of a server in `app`, and its connection to `peer`."""
    world = common()
    head = "\r\n".join(("GET / HTTP/1.1", "Host: app", f"traceparent: 00-{TRACE}-{SPAN}-{flags}",
                        *fields, "", "")).encode()
    with joined(world.peer, world.app, Pair.APP) as (asks, serves), \
            joined(world.app, world.peer, Pair.PEER) as (c, s):
        asks.sendall(head)
        receive(serves, len(head))
        cause, = open_requests(world.app).items()
        yield world, cause, c, s
        serves.sendall(OK)
        receive(asks, len(OK))


def arrived(s, request):
    """What the peer got for a request; it is the same but for the lines that were added."""
    got = receive(s, len(request) + 70)
    while not got.endswith(b"\r\n\r\n"):
        got += receive(s, 1)
    equal(LINE.sub(b"", STATE.sub(b"", got)), request, "the request without what was added")
    lines = LINE.findall(got)
    equal(len(lines), 1, "traceparent lines")
    states = STATE.findall(got)
    equal(len(states) <= 1, True, "tracestate lines")
    trace, span, flags = (part.decode() for part in lines[0])
    return trace, span, flags, states[0].decode() if states else None


def carried(world):
    """Keys of the tracestates that edits in flight carry."""
    layer, = Path("/sys/fs/bpf/ctxprop").glob(f"{netns_of(world.app):x}/v*")
    with Map(layer / "maps/carried") as kept:
        return kept.keys()


def call(s, c, request, cause, **kw):
    """Send a request for a cause; returns what the peer got."""
    begin_call(c, next_to_send(c), cause, **kw)
    c.sendall(request)
    got = arrived(s, request)
    s.sendall(OK)
    receive(c, len(OK))
    return got


@case
def same_trace_new_span():
    """A child has the trace and the flags of its cause and a span id of its own."""
    for sent, wanted in (("01", "01"), ("00", "00"), ("03", "03"), ("ff", "03"), ("02", "02")):
        with working(flags=sent) as (world, cause, c, s):
            spans = set()
            for _ in range(3):
                with counted(world.agent, by_thread=1, by_none=0, injected=1):
                    trace, span, flags, state = call(s, c, GET, cause)
                equal((trace, flags, state), (TRACE, wanted, None), "child")
                spans.add(span)
            equal(len(spans - {SPAN, cause[0]}), 3, "new span ids")


@case
def unknown_is_a_new_trace():
    """Without a cause, a new trace; why is counted."""
    with working() as (world, cause, c, s):
        with counted(world.agent, by_none=1, veto_no_evidence=1):
            trace, _, flags, _ = call(s, c, GET, None, veto=VETO_NO_EVIDENCE)
        equal((trace != TRACE, flags), (True, "03"), "trace")


@case
def only_the_call_itself():
    """A request that did not begin the call gets nothing of it."""
    with working() as (world, cause, c, s):
        begin_call(c, next_to_send(c), cause)
        c.sendall(GET * 2)
        got = receive(s, 2 * (len(GET) + 70))
        traces = [line[0] for line in LINE.findall(got)]
        equal([trace == TRACE.encode() for trace in traces], [True, False], "pipelined")
        s.sendall(OK * 2)
        receive(c, 2 * len(OK))


@case
def tracestate_of_any_length():
    """The tracestate of the cause goes along, unchanged, to every child."""
    for members in (1, 2, 3, 17, 32):
        for length in (1, 2, 5):
            state = ",".join(f"k{i:02}={'v' * length}" for i in range(members))
            with working(f"tracestate: {state}") as (world, cause, c, s):
                for _ in range(2):
                    got = call(s, c, GET, cause)
                    equal((got[0], got[3]), (TRACE, state), "child")


@case
def large_requests():
    """Split packets carry both lines too."""
    state = ",".join(f"k{i:02}={'v' * 11}" for i in range(32))
    body = os.urandom(300_000)
    with working(f"tracestate: {state}") as (world, cause, c, s):
        for size in (0, 500, 1300, 1400, 3000, 30_000, 300_000):
            head = b"POST /up HTTP/1.1\r\nHost: peer\r\nContent-Length: %d\r\n\r\n" % size
            begin_call(c, next_to_send(c), cause)
            added = 70 + (12 + len(state) + 3 & ~1)
            got = send_through(c, s, head + body[:size], len(head) + size + added)
            equal(STATE.findall(got)[0].decode(), state, f"tracestate with {size} bytes")
            equal(LINE.findall(got)[0][0].decode(), TRACE, "trace")
            equal(STATE.sub(b"", LINE.sub(b"", got)) == head + body[:size], True, "the rest")
            s.sendall(OK)
            receive(c, len(OK))


@case
def nothing_stays():
    """Kept tracestates are gone when they are acknowledged, and when connections end."""
    with working("tracestate: a=1") as (world, cause, c, s):
        for _ in range(20):
            call(s, c, GET, cause)
        equal(len(carried(world)), 0, "tracestates in flight")
