# SPDX-License-Identifier: Apache-2.0
"""reused.py ADDRESS PORT UPSTREAM_PORT UPSTREAM: a server, a thread per connection, that takes requests and answers
none: their threads end, and who has them stays. It does what its standard input says, and answers each line:

    threads N      once so many requests were taken: the ids of the threads that took them, which are over
    call TID       makes threads until one has this id, which calls UPSTREAM then: "called", or "none"
    leave          becomes two processes: the child keeps all connections, and nothing that has this one's number;
                   its own number
"""
import os
import signal
import socket
import sys
import threading
import time

LAST_PID = "/proc/sys/kernel/ns_last_pid"
TRIES, PATIENCE = 2000, 20  # seconds
taken, kept = [], []


def take(connection):
    connection.recv(4096)
    kept.append(connection)
    taken.append(threading.get_native_id())


def accept(listener):
    while True:
        threading.Thread(target=take, args=listener.accept()[:1]).start()


def call(upstream):
    with socket.create_connection(upstream, timeout=10) as s:
        s.sendall(b"GET /reused HTTP/1.1\r\nHost: h\r\n\r\n")
        s.recv(4096)


def call_as(wanted, upstream):
    """A thread that has this id calls. Others, which came in between, had it for a moment at most."""
    def run():
        if threading.get_native_id() == wanted:
            call(upstream)
            found.append(True)

    found = []
    for _ in range(TRIES):
        with open(LAST_PID, "w", encoding="ascii") as file:
            file.write(str(wanted - 1))
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if found:
            return "called"
    return "none"


def threads_that_took(count):
    end = time.monotonic() + PATIENCE
    while len(taken) < count and time.monotonic() < end:
        time.sleep(0.01)
    while any(os.path.exists(f"/proc/self/task/{tid}") for tid in taken) and time.monotonic() < end:
        time.sleep(0.01)
    return " ".join(map(str, taken))


def leave():
    child = os.fork()
    if not child:
        os.setsid()
        signal.pause()
    return str(child)


def main():
    address, port, upstream_port, upstream = sys.argv[1:]
    listener = socket.create_server((address, int(port)))
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    print("listening", flush=True)
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        if word == "threads":
            print(threads_that_took(int(number)), flush=True)
        elif word == "call":
            print(call_as(int(number), (upstream, int(upstream_port))), flush=True)
        elif word == "leave":
            print(leave(), flush=True)


main()
