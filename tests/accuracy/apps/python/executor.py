# SPDX-License-Identifier: Apache-2.0
"""executor.py ADDRESS PORT: one thread reads all requests, a ThreadPoolExecutor does the work.

The worker writes the answer; the reader goes on with other connections meanwhile. Environment:
BATCH (the reader reads all that is there before it hands over what it has read), LATE_MS (it hands
over each request after 0 to so many ms).
"""
import heapq
import os
import random
import re
import selectors
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from calls import copied, read_plan, work

WORKERS = 16
BATCH = "BATCH" in os.environ
LATE_MS = float(os.environ.get("LATE_MS", 0))
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
FIELD = re.compile(r"^([^:\r\n]+):[ \t]*(.*?)\r$", re.M)


class Connection:
    def __init__(self, sock):
        self.sock, self.text = sock, b""

    def read(self):
        """The head of a request, None while incomplete; EOFError at the end."""
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        self.text += data
        head, blank, rest = self.text.partition(b"\r\n\r\n")
        if not blank:
            return None
        self.text = rest
        return head.decode("latin-1") + "\r\n"

    def serve(self, head):
        fields = {name.lower(): value for name, value in FIELD.findall(head)}
        work(read_plan(head.split(" ", 2)[1]), copied(fields.get))
        self.sock.sendall(ANSWER)
        if fields.get("connection") == "close":
            self.sock.shutdown(socket.SHUT_RDWR)


class Jobs:
    """What was read, until it is handed over."""

    def __init__(self):
        self.workers, self.waiting = ThreadPoolExecutor(WORKERS), []

    def add(self, connection, head):
        if BATCH or LATE_MS:
            due = time.monotonic() + random.uniform(0, LATE_MS / 1000)
            heapq.heappush(self.waiting, (due, id(connection), connection, head))
        else:
            self.workers.submit(connection.serve, head)

    def hand_over(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, connection, head = heapq.heappop(self.waiting)
            self.workers.submit(connection.serve, head)

    def pause(self):
        """Seconds until one is due; None for ever."""
        return max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else None


def on_readable(connection, selector, jobs):
    try:
        if head := connection.read():
            jobs.add(connection, head)
    except (EOFError, OSError):
        selector.unregister(connection.sock)
        connection.sock.close()


def main():
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=1024)
    selector, jobs = selectors.DefaultSelector(), Jobs()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select(jobs.pause()):
            if key.data:
                on_readable(key.data, selector, jobs)
            else:
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(sock, selectors.EVENT_READ, Connection(sock))
        jobs.hand_over()


if __name__ == "__main__":
    main()
