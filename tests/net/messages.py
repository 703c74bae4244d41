# SPDX-License-Identifier: Apache-2.0
"""Requests over raw sockets, and what is expected of them."""
import os

from cases import equal
from streams import Sending, quiet, receive, send_through
from wire import LINE_LENGTH, compare

GET = b"GET /path?query=1 HTTP/1.1\r\nHost: peer\r\nUser-Agent: raw\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
RETRANSMISSION_SECONDS = 30


def post(body, *fields):
    """Head and body of a POST with a length."""
    more = b"".join(field + b"\r\n" for field in fields)
    return (b"POST /upload HTTP/1.1\r\nHost: peer\r\n%sContent-Length: %d\r\n\r\n"
            % (more, len(body)), body)


def padded(size):
    """A GET whose head has so many bytes."""
    pad = b"X-Pad: " + b"p" * (size - len(GET) - 9) + b"\r\n"
    return GET[:-2] + pad + b"\r\n", b""


def expect(client, server, requests, injected=None):
    """Send requests in one go; each arrives with a header, or as the flags in `injected` say."""
    injected = [True] * len(requests) if injected is None else injected
    data = b"".join(head + body for head, body in requests)
    got = send_through(client, server, data, len(data) + LINE_LENGTH * sum(injected))
    quiet(server)
    equal(compare(got, requests), injected, "which requests got a header")


def answered(client, server, requests, injected=None):
    """As expect(), and an answer comes back for each."""
    expect(client, server, requests, injected)
    server.sendall(OK * len(requests))
    equal(receive(client, len(OK) * len(requests)), OK * len(requests), "answers")


def receive_lossy(c, s, requests):
    """As answered(), with time for retransmissions; which headers are added is not fixed."""
    data = b"".join(head + body for head, body in requests)
    sending = Sending(c, data)
    got = receive(s, len(data) + LINE_LENGTH * len(requests), seconds=RETRANSMISSION_SECONDS)
    sending.finish()
    equal(compare(got, requests), [True] * len(requests), "headers")
    s.sendall(OK)
    equal(receive(c, len(OK), seconds=RETRANSMISSION_SECONDS), OK, "answer")


def untouched(client, server, data):
    """These bytes arrive as they are."""
    equal(send_through(client, server, data) == data, True, "bytes arrive unchanged")
    quiet(server)


# How many headers work_out() adds.
WORK_OUT = 9


def work_out(client, server, injected=True):
    """Requests of several sizes over one connection, small and large, alone and pipelined."""
    for requests in ([(GET, b"")], [post(os.urandom(900))], [padded(1420)], [padded(5000)],
                     [post(os.urandom(1_000_000))], [(GET, b"")] * 4):
        answered(client, server, requests, [injected] * len(requests))
