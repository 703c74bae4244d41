#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""As burn.py, but one thread reads all requests and an executor does the work: burn_pool.py PORT TRUTH."""
import concurrent.futures
import os
import selectors
import socket
import sys
import threading
import time

AFTERWARDS_US, WORKERS = 4000, 4
TRUTH = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def worked(request, start):
    line = f"{os.getpid()} {threading.get_native_id()} {start} {time.monotonic_ns()} {request}\n"
    os.write(TRUTH, line.encode())


def burn(request, cpu_us):
    end = time.thread_time_ns() + cpu_us * 1000
    start = time.monotonic_ns()
    while time.thread_time_ns() < end:
        sum(range(1000))
    worked(request, start)


def serve(connection, request, cpu_us):
    burn(request, cpu_us)
    connection.sendall(ANSWER)
    burn("-", AFTERWARDS_US)


def read(connection):
    """What a connection asks for: a head comes whole, one at a time. None at the end."""
    head = connection.recv(65536)
    _, cpu_us, request = head.split(b" ")[1].decode().split("/") if head else ("", 0, None)
    return request, int(cpu_us)


def loop(listener):
    pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connection, selectors.EVENT_READ)
                continue
            start = time.monotonic_ns()
            request, cpu_us = read(key.fileobj)
            if request is None:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                continue
            pool.submit(serve, key.fileobj, request, cpu_us)
            worked(request, start)


loop(socket.create_server(("", int(sys.argv[1])), backlog=64))
