# SPDX-License-Identifier: Apache-2.0
"""Requests that a local server receives: what is read of them, by whom they are to be taken, when
they are over."""
import contextlib
import os
import socket
import time

from cases import case, equal
from messages import OK
from queues import next_to_arrive
from following import arrivals, open_requests
from streams import accept, connect, joined, listen, receive, send_through
from waiting import wait_until
from worlds import Pair, common, counted, pair

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def get(*fields):
    return "\r\n".join(("GET / HTTP/1.1", "Host: app", *fields, "", "")).encode()


CHILD = get(f"traceparent: 00-{TRACE}-{SPAN}-01")


def served(world, client, server, request):
    """Send a request; returns what is known of it while it is open, after the server read it."""
    before = open_requests(world.app)
    client.sendall(request)
    equal(receive(server, len(request)), request, "the request arrives as it is")
    after = open_requests(world.app)
    return [after[span] for span in after if span not in before]


def one(world, client, server, request):
    found = served(world, client, server, request)
    equal(len(found), 1, "requests that were read")
    return found[0]


def answer(world, client, server, response=OK):
    """The server answers; the request is over then."""
    server.sendall(response)
    equal(receive(client, len(response)), response, "the answer")
    equal(open_requests(world.app), {}, "open requests after the answer")


@contextlib.contextmanager
def serving(address=Pair.APP):
    """The world, a client's socket in `peer`, and the server's in `app`."""
    world = common()
    with joined(world.peer, world.app, address) as (c, s):
        yield world, c, s


@case
def context_of_a_request():
    """A valid traceparent becomes the context of the request, for as long as it is open."""
    for address in (Pair.APP, Pair.APP6):
        with serving(address) as (world, c, s):
            with counted(world.agent, served_child=1, served_ended=1, served_root=0):
                request = one(world, c, s, CHILD)
                equal(request[1:], (TRACE, SPAN, 1, None, False), "context")
                first = (next_to_arrive(s) - len(CHILD)) & 0xffffffff
                equal(arrivals(s), [(request.id, first)], "arrivals")
                answer(world, c, s)


@case
def new_trace():
    """Without a valid traceparent a new, random trace begins."""
    values = ("", f"00-{TRACE}-{SPAN}-0", f"00-{'0' * 32}-{SPAN}-01", f"ff-{TRACE}-{SPAN}-01",
              f"00-{TRACE.upper()}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01-x")
    traces = set()
    with serving() as (world, c, s):
        for fields in [(), *((f"traceparent: {value}",) for value in values),
                       (f"traceparent: 00-{TRACE}-{SPAN}-01",) * 2]:
            request = one(world, c, s, get(*fields))
            equal((request.root, request.flags, request.tracestate), (True, 3, None), fields)
            traces.add(request.trace_id)
            answer(world, c, s)
    equal(len(traces), len(values) + 2, "different traces")


@case
def tracestate_goes_along():
    """tracestate is kept beside a valid traceparent, of several fields and any length allowed."""
    long = ",".join(f"k{i}={'v' * 9}" for i in range(32))
    cases = {("tracestate: a=1",): "a=1", ("TraceState:a=1", "tracestate: b=2,\tc=3 "): "a=1,b=2,\tc=3",
             ("tracestate: A=1",): None, ("tracestate: ",): None, (f"tracestate: {long}",): long}
    with serving() as (world, c, s):
        for fields, wanted in cases.items():
            request = one(world, c, s, get(f"Traceparent: 00-{TRACE}-{SPAN}-03", *fields))
            equal((request.trace_id, request.tracestate), (TRACE, wanted), fields)
            answer(world, c, s)
            request = one(world, c, s, get(*fields))
            equal((request.root, request.tracestate), (True, None), fields)
            answer(world, c, s)


@case
def heads_cut_anywhere():
    """However a head is cut into packets, the same is read of it."""
    head = get(f"traceparent:\t00-{TRACE}-{SPAN}-01 ", "tracestate: a=1, b=2", "X: y")
    with serving() as (world, c, s):
        for cut in range(1, len(head)):
            c.sendall(head[:cut])
            equal(receive(s, cut), head[:cut], "first part")
            request = one(world, c, s, head[cut:])
            equal((request.trace_id, request.tracestate), (TRACE, "a=1, b=2"), f"cut at {cut}")
            answer(world, c, s)
        for byte in head[:-1]:
            c.sendall(bytes([byte]))
        receive(s, len(head) - 1)
        request = one(world, c, s, head[-1:])
        equal((request.trace_id, request.tracestate), (TRACE, "a=1, b=2"), "byte by byte")
        answer(world, c, s)


@case
def pipelined():
    """Requests sent in one go are open together and end one after the other."""
    with serving() as (world, c, s):
        first = get("X: 1")
        found = served(world, c, s, first + CHILD + get("X: 3"))
        equal(len(found), 3, "open requests")
        told = arrivals(s)
        equal({a.request for a in told}, {r.id for r in found}, "arrivals")
        equal([a.seq - told[0].seq for a in told], [0, len(first), len(first) + len(CHILD)], "places")
        for left in (2, 1, 0):
            s.sendall(OK)
            receive(c, len(OK))
            equal(len(open_requests(world.app)), left, "open requests")


@case
def bodies():
    """Bodies of any kind, in both directions, contain no requests and no ends."""
    body = CHILD * 2000
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    length = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    coded = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with serving() as (world, c, s):
        for request, response in (
                (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body, length + body),
                (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked, coded + chunked)):
            sent = send_through(c, s, request)
            equal(sent, request, "request")
            equal(len(open_requests(world.app)), 1, "open requests")
            sent = send_through(s, c, response[:-1])
            equal(len(open_requests(world.app)), 1, "open before the last byte")
            answer(world, c, s, response[-1:])


@case
def responses_without_body():
    """HEAD, 204, 304 and interim responses."""
    head = b"HEAD / HTTP/1.1\r\nHost: app\r\n\r\n"
    with serving() as (world, c, s):
        for request, response in ((head, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
                                  (CHILD, b"HTTP/1.1 204 No Content\r\n\r\n"),
                                  (CHILD, b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")):
            one(world, c, s, request)
            interim = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
            s.sendall(interim)
            receive(c, len(interim))
            equal(len(open_requests(world.app)), 1, "open after an interim response")
            answer(world, c, s, response)


@case
def until_close():
    """A response without length ends with the connection."""
    with serving() as (world, c, s):
        one(world, c, s, CHILD)
        with counted(world.agent, served_ended=1, served_cut=0):
            s.sendall(b"HTTP/1.0 200 OK\r\n\r\nsome bytes")
            receive(c, 29)
            equal(len(open_requests(world.app)), 1, "open requests")
            s.close()
            equal(c.recv(1), b"", "end")
            equal(open_requests(world.app), {}, "open requests")


@case
def ends_of_connections():
    """When a connection ends before the response, its requests are over."""
    with serving() as (world, c, s):
        one(world, c, s, CHILD)
        with counted(world.agent, served_cut=1):
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            c.close()  # RST
            gone(world)
    with serving() as (world, c, s):
        one(world, c, s, CHILD)
        c.shutdown(socket.SHUT_WR)
        equal(s.recv(1), b"", "end")
        equal(len(open_requests(world.app)), 1, "open while the client waits for the answer")
        s.sendall(OK)
        receive(c, len(OK))
        gone(world)


def gone(world):
    wait_until(lambda: not open_requests(world.app),
               lambda: f"still open: {open_requests(world.app)}")


@case
def with_the_handshake():
    """Data that comes with the handshake's last acknowledgement, or before accept()."""
    world = common()
    defer = lambda s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)  # noqa: E731
    quick = lambda s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)  # noqa: E731
    for before in (defer, lambda s: None):
        for prepare in (quick, lambda s: None):
            with listen(world.app, Pair.APP, before=before) as listener, \
                    connect(world.peer, listener.getsockname(), before=prepare) as c:
                c.sendall(CHILD)
                time.sleep(0.05)
                with accept(listener) as s:
                    equal(receive(s, len(CHILD)), CHILD, "request")
                    found = open_requests(world.app)
                    equal([r.trace_id for r in found.values()], [TRACE], "requests")
                    equal([a.request for a in arrivals(s)], [r.id for r in found.values()], "arrivals")
                    answer(world, c, s)


@case
def loopback():
    """Client and server in one namespace: the request arrives with the header that was injected."""
    world = common()
    with joined(world.app, world.app, "127.0.0.1") as (c, s):
        c.sendall(get())
        got = receive(s, len(get()) + 70)
        found = list(open_requests(world.app).values())
        equal(len(found), 1, "requests")
        equal(f"00-{found[0].trace_id}-{found[0].parent_id}-".encode() in got, True, got)
        equal(found[0].root, False, "root")
        answer(world, c, s)


@case
def not_http():
    """What is not HTTP makes no requests, and arrives as it is."""
    for data in (b"EHLO there\r\n", b"\x16\x03\x01" + os.urandom(100), b"g@t / HTTP/1.1\r\n\r\n",
                 b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"Q\0\0\0\x0dSELECT 1\0"):
        with serving() as (world, c, s):
            equal(served(world, c, s, data + CHILD), [], data)


@case
def older_than_the_agent():
    """A connection met in the middle is read when two requests and an answer prove what it is."""
    with pair(agent=False) as world, joined(world.peer, world.app, Pair.APP) as (c, s):
        c.sendall(CHILD)
        receive(s, len(CHILD))
        s.sendall(OK)
        receive(c, len(OK))
        world.start_agent()
        equal(served(world, c, s, CHILD), [], "the first one")
        s.sendall(OK)
        receive(c, len(OK))
        one(world, c, s, CHILD)
        answer(world, c, s)
