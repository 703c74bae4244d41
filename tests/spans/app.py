#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service, thread per connection: app.py PORT LOG [UPSTREAM_HOST UPSTREAM_PORT]

With an upstream it asks that once for each request, on a new connection every other time, and
answers with the status that it got. Without one it answers with a status, a size and a delay that
the number of the request says.
"""
import socket
import sys
import threading
import time

from talk import Log, Reader, clock, request, response, status_of

STATUSES = (200, 200, 200, 204, 301, 404, 500, 503)
SIZES = (0, 10, 1000, 20_000)
DELAYS = (0, 0, 0, 0.005)


class Upstream:
    """The one connection that a thread of the service keeps, and one for each other call."""

    def __init__(self, address, log):
        self.address, self.log, self.kept = address, log, None

    def ask(self, number, size):
        fresh = number % 2 == 1
        if fresh or not self.kept:
            sock = socket.create_connection(self.address)
            if not fresh:
                self.kept = sock
        else:
            sock = self.kept
        text = request(f"/up/{number}?key=secret", b"b" * size, "POST" if size else "GET")
        begin = clock()
        sock.sendall(text)
        head, got = Reader(sock).message()
        self.log.tell(kind="call", number=number, begin=begin, end=clock(), sent=len(text), got=got,
                      status=status_of(head), reused=not fresh and sock is self.kept)
        if fresh:
            sock.close()
        return status_of(head)


def numbered(head):
    """The number in the path of a request."""
    return int(head.split()[1].partition("?")[0].rpartition("/")[2])


def serve(sock, log, address):
    reader, upstream = Reader(sock), Upstream(address, log) if address else None
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while True:
            head, got = reader.message()
            begin, number = clock(), numbered(head)
            if upstream:
                status = upstream.ask(number, number % 3 * 700)
            else:
                time.sleep(DELAYS[number % len(DELAYS)])
                status = STATUSES[number % len(STATUSES)]
            size = 0 if status in (204, 304) else SIZES[number % len(SIZES)]
            answer = response(status, b"a" * size)
            log.tell(kind="served", number=number, begin=begin, end=clock(), got=got,
                     sent=len(answer), status=status)
            sock.sendall(answer)
    except (EOFError, OSError):
        sock.close()


def main():
    log = Log(sys.argv[2])
    address = (sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 3 else None
    with socket.create_server(("", int(sys.argv[1])), backlog=256) as listener:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0], log, address),
                             daemon=True).start()


main()
