# SPDX-License-Identifier: Apache-2.0
"""Clients that keep so many requests in flight, half of them GET /a, half GET /b, each with a trace of its own."""
import itertools
import os
import random
import socket
import threading
import time
from collections import namedtuple

from http1 import Closed, Reader, read_response

ANSWER_SECONDS = 60
LONGER = 4  # times, at most: the machine may have other work
# id: a or b, by its endpoint, and a number. sent, received: CLOCK_MONOTONIC in ns
Request = namedtuple("Request", "id trace parent sent received")


class Connection:
    """One after the other: a new one where the server has ended the last."""

    def __init__(self, peer):
        self.peer, self.socket = peer, None

    def open(self):
        self.socket = socket.create_connection(self.peer, timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = Reader(self.socket.recv)

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def ask(self, heads):
        """Send these requests at once; returns when each response had come, in ns."""
        if not self.socket:
            self.open()
        self.socket.sendall(b"".join(heads))
        received = []
        for _ in heads:
            head, _ = read_response(self.reader)
            received.append(time.monotonic_ns())
            if head.start.split()[1] != "200":
                raise ValueError(head.start)
        if head.get("connection").lower() == "close":
            self.close()
        return received


class Clients:
    """They live in one host, and ask one address."""

    def __init__(self, host, address, port):
        self.host, self.peer = host, (address, port)
        self.numbers, self.lock = itertools.count(), threading.Lock()
        self.requests, self.broken = [], []

    def run(self, in_flight, seconds, depth=1, at_least=0):
        """Ask for so long, and where that makes too few requests longer; returns them, all of which are answered."""
        self.requests, self.at_least, begin = [], at_least, time.monotonic()
        self.end, self.latest = begin + seconds, begin + LONGER * seconds
        threads = [threading.Thread(target=self.talk, args=(min(depth, in_flight),))
                   for _ in range(max(1, in_flight // depth))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.broken:
            raise RuntimeError(f"requests failed: {self.broken[0]}")
        return self.requests

    def goes_on(self):
        now = time.monotonic()
        return not self.broken and (now < self.end or len(self.requests) < self.at_least and now < self.latest)

    def talk(self, depth):
        connection = Connection(self.peer)
        try:
            with self.host.inside():
                while self.goes_on():
                    self.round(connection, depth)
        except (Closed, EOFError, OSError, ValueError) as error:
            self.broken.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    def round(self, connection, depth):
        asked = [self.made() for _ in range(depth)]
        heads = [f"GET /{name[0]}?{name} HTTP/1.1\r\nHost: burn\r\ntraceparent: 00-{trace}-{parent}-01\r\n\r\n".encode()
                 for name, trace, parent in asked]
        sent = time.monotonic_ns()
        received = connection.ask(heads)
        with self.lock:
            self.requests += [Request(*request, sent, when) for request, when in zip(asked, received)]

    def made(self):
        """(id, trace id, span id) of a new request."""
        with self.lock:
            return f"{random.choice('ab')}{next(self.numbers)}", os.urandom(16).hex(), os.urandom(8).hex()
