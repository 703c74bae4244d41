#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""As burn.py, in greenlets, and without work for nobody: burn_greenlets.py gevent|eventlet PORT TRUTH.

Each request waits before it burns, at one of two depths: greenlets of others have used the memory of its stack then.
"""
import os
import sys
import threading
import time

KIND, PORT, TRUTH = sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
PAUSE_SECONDS, DEPTH = 0.002, 12
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def burn(request, cpu_us):
    end = time.thread_time_ns() + cpu_us * 1000
    start = time.monotonic_ns()
    while time.thread_time_ns() < end:
        sum(range(1000))
    line = f"{os.getpid()} {threading.get_native_id()} {start} {time.monotonic_ns()} {request}\n"
    os.write(TRUTH, line.encode())


def deeper(levels, work):
    """Works below so many calls of C, each with a call of the interpreter."""
    return max(map(deeper, [levels - 1], [work])) if levels else work() or 0


def answer(pause, connection, path):
    _, cpu_us, request = path.split("/")

    def work():
        pause(PAUSE_SECONDS)
        burn(request, int(cpu_us))

    deeper(DEPTH if int(request[1:]) % 2 else 0, work)
    connection.sendall(ANSWER)


def serve(pause, connection):
    """A head comes whole, one at a time."""
    while head := connection.recv(65536):
        answer(pause, connection, head.split(b" ")[1].decode())


def with_gevent():
    import gevent
    from gevent.server import StreamServer
    StreamServer(("", PORT), lambda connection, _: serve(gevent.sleep, connection)).serve_forever()


def with_eventlet():
    import eventlet
    eventlet.serve(eventlet.listen(("", PORT)), lambda connection, _: serve(eventlet.sleep, connection))


{"gevent": with_gevent, "eventlet": with_eventlet}[KIND]()
