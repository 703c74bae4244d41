# SPDX-License-Identifier: Apache-2.0
"""Streams byte by byte: raw sockets on both sides, one process that plays both."""
import os
import random
import socket
import struct
import time

from cases import case, equal
from messages import GET, OK, answered, expect, padded, post, untouched
from streams import Sending, accept, connect, joined, listen, receive, reset_on_close, \
    send_through
from wire import LINE_LENGTH, compare
from worlds import common, counted

LINE = b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"


def link():
    return joined(common().app, common().peer, common().PEER)


@case
def first_request():
    """The first request of a connection gets one header, and so do the next ones."""
    with link() as (c, s), counted(common().agent, injected=3, grown=3, dropped=0):
        for _ in range(3):
            answered(c, s, [(GET, b"")])


@case
def ipv6():
    """Requests over IPv6."""
    world = common()
    with joined(world.app, world.peer, world.PEER6) as (c, s), counted(world.agent, injected=3):
        for _ in range(3):
            answered(c, s, [post(os.urandom(300))])


@case(seconds=60)
def head_cut_at_every_byte():
    """A head cut into two packets at every byte."""
    head, body = post(b"0123456789")
    with link() as (c, s):
        for cut in range(1, len(head)):
            c.sendall(head[:cut])
            time.sleep(0.002)
            c.sendall(head[cut:] + body)
            got = receive(s, len(head + body) + LINE_LENGTH)
            equal(compare(got, [(head, body)]), [True], f"header when cut at {cut}")
            s.sendall(OK)
            receive(c, len(OK))


@case
def one_byte_per_packet():
    """A head sent byte by byte, then one at once."""
    with link() as (c, s):
        for byte in GET:
            c.sendall(bytes([byte]))
            time.sleep(0.001)
        equal(compare(receive(s, len(GET) + LINE_LENGTH), [(GET, b"")]), [True], "header")
        s.sendall(OK)
        receive(c, len(OK))
        answered(c, s, [(GET, b"")])


@case
def lf_only():
    """Line ends without CR."""
    head = GET.replace(b"\r\n", b"\n")
    with link() as (c, s), counted(common().agent, injected=1):
        answered(c, s, [(head, b"")])


@case
def pipelined():
    """Eight requests in one write, bodies between them."""
    requests = [post(os.urandom(n)) if n else (GET, b"") for n in (0, 0, 5, 0, 77, 1000, 0, 0)]
    with link() as (c, s), counted(common().agent, injected=8):
        answered(c, s, requests)


@case
def pipelined_beyond_room():
    """Forty requests in one write: as many headers as a flow can hold edits, every byte intact."""
    data = GET * 40
    with link() as (c, s):
        c.sendall(data)
        got = receive(s, len(data))
        try:
            while True:
                got += receive(s, LINE_LENGTH, seconds=0.3)
        except AssertionError:
            pass
        injected = compare(got, [(GET, b"")] * 40)
        assert 1 <= sum(injected) <= 40, injected
        s.sendall(OK * 40)
        receive(c, len(OK) * 40)
        answered(c, s, [(GET, b"")])


@case
def bodies_of_all_sizes():
    """Bodies from nothing to 5 MB in one write, on one connection."""
    sizes = (0, 1, 1300, 1370, 1375, 1380, 1400, 1448, 1449, 3000, 65536, 5_000_000)
    with link() as (c, s), counted(common().agent, injected=len(sizes), dropped=0):
        for size in sizes:
            answered(c, s, [post(os.urandom(size))])


@case
def chunked():
    """A chunked body with extensions and trailers, then another request."""
    head = b"PUT /x HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = (b"5;ext=\"v\"\r\nhello\r\n2000\r\n" + b"x" * 0x2000 +
            b"\r\n0\r\nTrailer: t\r\n\r\n")
    with link() as (c, s):
        answered(c, s, [(head, body), (GET, b"")])


@case
def body_that_looks_like_requests():
    """Requests inside a body are body."""
    with link() as (c, s), counted(common().agent, injected=2):
        answered(c, s, [post(GET * 50)])
        answered(c, s, [post(LINE + b"\r\n")])


@case
def own_header_wins():
    """A request that carries traceparent already, in any case of letters, is not touched."""
    with link() as (c, s), counted(common().agent, present=2, injected=1):
        answered(c, s, [(GET[:-2] + LINE + b"\r\n", b"")], [False])
        answered(c, s, [(GET[:-2] + LINE.replace(b"traceparent", b"TraceParent") + b"\r\n", b"")],
                 [False])
        answered(c, s, [(GET, b"")])


@case
def own_header_late():
    """The application's own header behind 8 KB of other fields is found too."""
    pad = b"".join(b"X-%d: %s\r\n" % (i, b"v" * 200) for i in range(40))
    with link() as (c, s), counted(common().agent, present=1, injected=0):
        answered(c, s, [(GET[:-2] + pad + LINE + b"\r\n", b"")], [False])


@case
def long_request_line():
    """A request line over 1,023 bytes gets its header."""
    with link() as (c, s):
        answered(c, s, [(b"GET /" + b"a" * 1100 + b" HTTP/1.1\r\nHost: p\r\n\r\n", b"")])


@case
def heads_around_one_segment():
    """Heads of every size from 1300 to 1520 bytes."""
    with link() as (c, s), counted(common().agent, injected=221, dropped=0):
        for size in range(1300, 1521):
            answered(c, s, [padded(size)])


@case
def head_over_64_kib():
    """A head of 70 KB: not injected, counted, and the connection goes on."""
    pad = b"".join(b"X-%d: %s\r\n" % (i, b"v" * 700) for i in range(100))
    with link() as (c, s), counted(common().agent, head_too_long=1):
        answered(c, s, [(GET[:-2] + pad + b"\r\n", b"")], [False])


@case
def upgrade_accepted():
    """After 101 nothing is touched, also bytes that look like requests."""
    ask = (b"GET /chat HTTP/1.1\r\nHost: p\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
           b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    with link() as (c, s), counted(common().agent, injected=1, upgraded=1):
        expect(c, s, [(ask, b"")])
        s.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n\x81\x02hi")
        time.sleep(0.05)
        for _ in range(3):
            untouched(c, s, GET + os.urandom(100) + GET)
            s.sendall(GET)
            time.sleep(0.01)


@case
def upgrade_refused():
    """An Upgrade that the server ignores: the next request is injected."""
    ask = GET[:-2] + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n"
    with link() as (c, s), counted(common().agent, injected=3, upgraded=0):
        answered(c, s, [(ask, b"")])
        answered(c, s, [(GET, b"")])
        answered(c, s, [(GET, b"")])


@case
def upgrade_refused_before_the_body():
    """The head alone is answered, as to an h2c that is ignored; the body comes behind the answer."""
    head, body = post(os.urandom(3000), b"Connection: Upgrade", b"Upgrade: h2c")
    with link() as (c, s), counted(common().agent, injected=4, upgraded=0):
        for _ in range(3):
            answered(c, s, [(head, b"")])
            untouched(c, s, body)
        answered(c, s, [(GET, b"")])


@case
def connect_tunnel():
    """What goes through a CONNECT tunnel is not touched."""
    ask = b"CONNECT peer:443 HTTP/1.1\r\nHost: peer:443\r\n\r\n"
    with link() as (c, s), counted(common().agent, connect=1):
        c.sendall(ask)
        got = receive(s, len(ask))
        # Whether CONNECT itself gets a header is not the point; after the answer all is opaque.
        if got != ask:
            got += receive(s, LINE_LENGTH)
        compare(got, [(ask, b"")])
        s.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        time.sleep(0.05)
        untouched(c, s, GET * 3 + b"\x16\x03\x01\x02\x00" + os.urandom(512))


@case
def tls_records():
    """A TLS stream is not touched, though requests stand in it."""
    hello = b"\x16\x03\x01\x02\x00\x01" + os.urandom(511)
    with link() as (c, s), counted(common().agent, tls=1, injected=0):
        untouched(c, s, hello)
        s.sendall(b"\x16\x03\x03" + os.urandom(900))
        receive(c, 903)
        untouched(c, s, GET + os.urandom(3000) + GET)


@case
def http2_preface():
    """HTTP/2 with prior knowledge is not touched."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
    with link() as (c, s), counted(common().agent, http2=1, injected=0):
        untouched(c, s, preface + os.urandom(200) + GET)
        untouched(c, s, GET)


@case
def random_binary():
    """A hundred streams of random bytes arrive as they are."""
    draw = random.Random(7)
    with counted(common().agent, injected=0):
        for size in range(100):
            with link() as (c, s):
                untouched(c, s, draw.randbytes(40 + size * 37))
                s.sendall(b"x")
                untouched(c, s, GET)


@case
def server_speaks_first():
    """Protocols in which the server greets: SMTP, Redis push, MySQL-like."""
    for greeting, line in ((b"220 mail ESMTP\r\n", b"EHLO me\r\nMAIL FROM:<a@b>\r\n"),
                           (b"\x4a\0\0\0\x0a8.0\0", os.urandom(90)),
                           (b"+OK\r\n", b"*1\r\n$4\r\nPING\r\n")):
        with link() as (c, s), counted(common().agent, injected=0):
            s.sendall(greeting)
            equal(receive(c, len(greeting)), greeting, "greeting")
            untouched(c, s, line)
            s.sendall(b"250 go\r\n")
            untouched(c, s, GET)


@case
def echo_server_under_the_agent():
    """A server under the agent that sends back what looks like requests is never edited."""
    world = common()
    with joined(world.peer, world.app, world.APP) as (c, s), counted(world.agent, injected=0):
        for _ in range(20):
            untouched(c, s, GET)
            untouched(s, c, GET)
        untouched(s, c, GET * 20)


@case
def answers_are_not_edited():
    """Responses of a server under the agent, keep-alive and pipelined, pass untouched."""
    world = common()
    body = b"HTTP/1.1 200 OK\r\n" + GET
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with joined(world.peer, world.app, world.APP) as (c, s), counted(world.agent, injected=0):
        for _ in range(10):
            untouched(c, s, GET)
            untouched(s, c, reply)


@case
def big_download():
    """20 MB towards the client over a connection whose request was edited."""
    body = os.urandom(1 << 20) * 20
    with link() as (c, s):
        expect(c, s, [(GET, b"")])
        equal(send_through(s, c, body) == body, True, "download")
        answered(c, s, [(GET, b"")])


@case
def both_ways_at_once():
    """A large upload and a large download at the same time, on an edited connection."""
    body = os.urandom(3 << 20)
    head, _ = post(body)
    with link() as (c, s):
        answered(c, s, [(GET, b"")])
        sending, reply = Sending(c, head + body), Sending(s, OK + body)
        got = receive(s, len(head + body) + LINE_LENGTH)
        equal(receive(c, len(OK + body)) == OK + body, True, "download")
        sending.finish()
        reply.finish()
        equal(compare(got, [(head, body)]), [True], "upload")


@case
def half_close():
    """The client closes its side behind the request; the answer still comes, then both FINs."""
    with link() as (c, s):
        expect(c, s, [post(os.urandom(5000))])
        c.shutdown(socket.SHUT_WR)
        equal(s.recv(1), b"", "end of the request stream")
        reply = OK * 1000
        equal(send_through(s, c, reply) == reply, True, "answer")
        s.shutdown(socket.SHUT_WR)
        equal(c.recv(1), b"", "end of the answer stream")


@case
def server_closes_first():
    """The server closes behind its answer; the client's FIN comes later."""
    with link() as (c, s):
        answered(c, s, [(GET, b"")])
        s.shutdown(socket.SHUT_WR)
        equal(c.recv(1), b"", "end of the answer stream")
        expect(c, s, [(GET, b"")])
        c.shutdown(socket.SHUT_WR)
        equal(s.recv(1), b"", "end of the request stream")


@case
def request_and_fin_together():
    """Request and FIN back to back, without waiting (HTTP/1.0 style)."""
    for size in (0, 100, 1400, 100_000):
        with link() as (c, s):
            head, body = post(os.urandom(size))
            c.sendall(head + body)
            c.shutdown(socket.SHUT_WR)
            got = receive(s, len(head + body) + LINE_LENGTH)
            equal(compare(got, [(head, body)]), [True], "header")
            equal(s.recv(1), b"", "end of the stream")


@case
def answer_before_the_request_ends():
    """A server that answers while the body is still coming."""
    head, body = post(os.urandom(200_000))
    with link() as (c, s):
        c.sendall(head + body[:50_000])
        got = receive(s, 1000)
        s.sendall(OK)
        equal(receive(c, len(OK)), OK, "early answer")
        got += send_through(c, s, body[50_000:], len(head + body) + LINE_LENGTH - 1000)
        equal(compare(got, [(head, body)]), [True], "header")
        answered(c, s, [(GET, b"")])


@case
def reset_by_the_peer():
    """RST from the peer on an edited connection is believed by the client at once."""
    with link() as (c, s):
        answered(c, s, [(GET, b"")])
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
        try:
            equal(c.recv(1), "reset", "what the client reads")
        except ConnectionResetError:
            pass


@case
def reset_by_the_client():
    """RST from the client on an edited connection is believed by the peer at once."""
    with link() as (c, s):
        answered(c, s, [(GET, b"")])
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.close()
        try:
            equal(s.recv(1), "reset", "what the server reads")
        except ConnectionResetError:
            pass


@case
def same_ports_again():
    """The same four-tuple over and over, closed by FIN or RST: no offset of an older one counts."""
    world = common()
    with listen(world.peer, world.PEER) as listener:
        for round_ in range(20):
            how = reset_on_close if round_ % 2 else lambda s: None
            with connect(world.app, listener.getsockname(), (world.APP, 4444), how) as c:
                with accept(listener) as s:
                    answered(c, s, [post(os.urandom(50 * round_))])
                    answered(c, s, [(GET, b"")])
                    # The server closes first: TIME_WAIT stays with it, the client's port is free.
                    s.shutdown(socket.SHUT_RDWR)
                    c.recv(1)


@case
def small_window():
    """A receiver with a tiny buffer that reads slowly: no byte wrong, no stall."""
    world = common()
    head, body = post(os.urandom(40_000))

    def small(sock):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)

    with listen(world.peer, world.PEER, before=small) as listener:
        with connect(world.app, listener.getsockname()) as c, accept(listener) as s:
            for _ in range(2):
                sending = Sending(c, head + body)
                got = b""
                while len(got) < len(head + body):
                    time.sleep(0.005)
                    got += s.recv(700)
                while True:
                    try:
                        got += receive(s, 1, seconds=0.2)
                    except AssertionError:
                        break
                sending.finish()
                compare(got, [(head, body)])
                s.sendall(OK)
                receive(c, len(OK))


@case
def urgent_data():
    """Urgent data makes the flow opaque; the bytes arrive."""
    with link() as (c, s):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
        answered(c, s, [(GET, b"")])
        c.send(b"!", socket.MSG_OOB)
        equal(receive(s, 1), b"!", "urgent byte")
        untouched(c, s, GET)


@case
def malformed_heads():
    """Heads that two servers could read in two ways: untouched, then left alone for good."""
    bad = (b"GET / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
           b"GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
           b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
           b"GET /a b HTTP/1.1\r\nHost: p\r\n\r\n")
    for head in bad:
        with link() as (c, s), counted(common().agent, injected=0):
            untouched(c, s, head)
            untouched(c, s, GET)
