#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service that logs: app.py KIND PORT LOG UPSTREAM_HOST UPSTREAM_PORT

KIND: threads (one for each connection), prefork (processes that accept in turn), pool (threads
that take what another one has accepted), reader (the same, of what it has read; select: it has no
epoll set), async (one loop).
Of each request with a number in its path there are lines on both outputs; a thread beside them (a
task in the loop, the reader) logs on its own.
Every other request asks the upstream for something in between (not those of the loop).
Every line is in the file LOG, too, with its writer and time: [descriptor, line, pid, tid, us].
"""
import asyncio
import concurrent.futures
import fcntl
import json
import os
import queue
import selectors
import socket
import sys
import threading
import time

KIND, PORT, LOG = sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT |
                                                         os.O_APPEND)
UPSTREAM = sys.argv[4], int(sys.argv[5])
BEAT = 0.002
PROCESSES = 4
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def put(fd, *pieces):
    """Write a line, in pieces. Those of stderr do not get mixed up, those of stdout are whole."""
    with open(sys.argv[3]) as lock:
        if fd == 2:
            fcntl.flock(lock, fcntl.LOCK_EX)
        us = time.time_ns() // 1000
        for piece in pieces:
            os.write(fd, piece.encode())
    told = fd, "".join(pieces), os.getpid(), threading.get_native_id(), us
    os.write(LOG, f"{json.dumps(told)}\n".encode())


def number_of(head):
    return int(head.split()[1].rpartition(b"/")[2])


def log_early(number):
    put(1, f"number={number} begins\n")
    put(2, json.dumps({"number": number, "text": "ä{}"}) + "\n")


def log_late(number):
    put(2, f"number={number} in ", "two pieces", "\n")
    put(1, f"number={number} with a return\r\n")


def log_after(number):
    """When the response has been sent."""
    put(1, f"number={number} is over\n")


def call(number):
    if number % 2:
        time.sleep(number % 4 / 1000)
        return
    with socket.create_connection(UPSTREAM) as sock:
        sock.sendall(b"GET /of/%d HTTP/1.1\r\nHost: up\r\n\r\n" % number)
        sock.recv(4096)


def head_of(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(4096)
        if not more:
            return b""
        data += more
    return data


def serve(sock):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while head := head_of(sock):
        number = number_of(head)
        log_early(number)
        call(number)
        log_late(number)
        sock.sendall(ANSWER)
        log_after(number)
    sock.close()


def beat():
    for i in range(10**9):
        put(1 + i % 2, f"beat {i}\n")
        time.sleep(BEAT)


def accept(listener, hand):
    while True:
        hand(listener.accept()[0])


def run_threads(listener):
    accept(listener, lambda sock: threading.Thread(target=serve, args=(sock,)).start())


def run_pool(listener):
    pool = concurrent.futures.ThreadPoolExecutor(8)
    accept(listener, lambda sock: pool.submit(serve, sock))


def run_prefork(listener):
    for _ in range(PROCESSES):
        if not os.fork():
            accept(listener, serve)
    beat()


def work(waiting):
    while True:
        sock, number = waiting.get()
        log_early(number)
        call(number)
        log_late(number)
        sock.sendall(ANSWER)
        log_after(number)


def run_reader(listener):
    """One thread reads all requests, and logs on its own, too; others respond."""
    waiting = queue.SimpleQueue()
    chooser = selectors.SelectSelector() if KIND == "select" else selectors.EpollSelector()
    for _ in range(8):
        threading.Thread(target=work, args=(waiting,)).start()
    chooser.register(listener, selectors.EVENT_READ)
    for i in range(10**9):
        for key, _ in chooser.select(BEAT):
            if key.fileobj is listener:
                chooser.register(listener.accept()[0], selectors.EVENT_READ)
            elif head := head_of(key.fileobj):
                waiting.put((key.fileobj, number_of(head)))
            else:
                chooser.unregister(key.fileobj)
                key.fileobj.close()
        put(1, f"beat {i}\n")


async def serve_async(reader, writer):
    try:
        while True:
            number = number_of(await reader.readuntil(b"\r\n\r\n"))
            log_early(number)
            await asyncio.sleep(number % 4 / 1000)
            log_late(number)
            writer.write(ANSWER)
            await writer.drain()
            log_after(number)
    except asyncio.IncompleteReadError:
        writer.close()


async def beat_async():
    for i in range(10**9):
        put(1, f"beat {i}\n")
        await asyncio.sleep(BEAT)


async def run_async(listener):
    await asyncio.start_server(serve_async, sock=listener)
    await beat_async()


def main():
    listener = socket.create_server(("", PORT), backlog=128)
    if KIND in ("threads", "pool"):
        threading.Thread(target=beat, daemon=True).start()
    if KIND == "async":
        asyncio.run(run_async(listener))
    {"threads": run_threads, "reader": run_reader, "select": run_reader, "pool": run_pool, "prefork": run_prefork}[KIND](listener)


main()
