#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service that logs: app.py KIND PORT LOG

KIND: threads (one for each connection), prefork (processes that accept in turn), pool (threads
that take what another one has accepted), async (one loop). Of each request with a number in its
path there are lines on both outputs; a thread beside them (a task, in the loop) logs on its own.
Every line is in the file LOG, too, with its writer and time: [descriptor, line, pid, tid, us].
"""
import asyncio
import concurrent.futures
import fcntl
import json
import os
import socket
import sys
import threading
import time

KIND, PORT, LOG = sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT |
                                                         os.O_APPEND)
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
        time.sleep(number % 4 / 1000)
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
    if KIND != "prefork" and KIND != "async":
        threading.Thread(target=beat, daemon=True).start()
    if KIND == "async":
        asyncio.run(run_async(listener))
    {"threads": run_threads, "pool": run_pool, "prefork": run_prefork}[KIND](listener)


main()
