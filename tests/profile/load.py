# SPDX-License-Identifier: Apache-2.0
"""Requests of known length and known trace id, on several connections at a time."""
import itertools
import os
import socket
import threading
import time
from collections import namedtuple

# id: as in the truth file; trace, parent: of its traceparent, None: it brought none;
# sent, received: CLOCK_MONOTONIC in ns, around the whole exchange.
Request = namedtuple("Request", "id trace parent sent received")

ANSWER_SECONDS = 60


class Load:
    """Sends requests from one host until they are all answered. action: behind their paths; pause: seconds
    before each."""

    def __init__(self, host, address, port, cpu_us, roots=False, action="", pause=0):
        self.host, self.peer, self.cpu_us, self.roots = host, (address, port), cpu_us, roots
        self.action, self.pause = action, pause
        self.requests, self.broken = [], []
        self.ids = (f"r{number}" for number in itertools.count())
        self.lock = threading.Lock()

    def run(self, connections, requests):
        """`requests` requests on each of `connections` keep-alive connections, all at once.

        Returns the open sockets, idle by now; the caller closes them.
        """
        with self.host.inside():
            sockets = [socket.create_connection(self.peer) for _ in range(connections)]
        threads = [threading.Thread(target=self.talk, args=(connection, requests))
                   for connection in sockets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.broken:
            raise RuntimeError(f"requests failed: {self.broken[0]}")
        return sockets

    def talk(self, connection, requests):
        try:
            connection.settimeout(ANSWER_SECONDS)
            for _ in range(requests):
                self.request(connection)
        except (OSError, ValueError) as error:
            self.broken.append(f"{type(error).__name__}: {error}")

    def request(self, connection):
        time.sleep(self.pause)
        with self.lock:
            name = next(self.ids)
        trace, parent = os.urandom(16).hex(), os.urandom(8).hex()
        field = "" if self.roots else f"traceparent: 00-{trace}-{parent}-01\r\n"
        sent = time.monotonic_ns()
        connection.sendall(f"GET /{self.cpu_us}/{name}{self.action} HTTP/1.1\r\n"
                           f"Host: burn\r\n{field}\r\n".encode())
        self.read_answer(connection, name)
        known = (None, None) if self.roots else (trace, parent)
        with self.lock:
            self.requests.append(Request(name, *known, sent, time.monotonic_ns()))

    def read_answer(self, connection, name):
        """Until the request of this name is over."""
        read_answer(connection)


def read_answer(connection):
    """Reads until head and the two bytes of the body are there."""
    got = b""
    while not got.endswith(b"\r\n\r\nok"):
        more = connection.recv(4096)
        if not more:
            raise ValueError(f"connection closed behind {got!r}")
        got += more
    if not got.startswith(b"HTTP/1.1 200"):
        raise ValueError(f"answered {got!r}")
