#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""As burn.py, but a task of asyncio does the work, in two steps; callbacks burn for nobody: burn_aio.py PORT TRUTH."""
import asyncio
import os
import sys
import threading
import time

AFTERWARDS_US, BACKGROUND_US, PAUSE_SECONDS = 4000, 2000, 0.002
TRUTH = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def burn(request, cpu_us):
    end = time.thread_time_ns() + cpu_us * 1000
    start = time.monotonic_ns()
    while time.thread_time_ns() < end:
        sum(range(1000))
    os.write(TRUTH, f"{os.getpid()} {threading.get_native_id()} {start} {time.monotonic_ns()} {request}\n".encode())


def background():
    """In a context of its own, between the steps of the tasks."""
    burn("-", BACKGROUND_US)
    asyncio.get_running_loop().call_later(PAUSE_SECONDS, background)


async def serve(reader, writer):
    while head := await reader.readline():
        while await reader.readline() != b"\r\n":
            pass
        _, cpu_us, request = head.split(b" ")[1].decode().split("/")
        burn(request, int(cpu_us) // 2)
        await asyncio.sleep(PAUSE_SECONDS)
        burn(request, int(cpu_us) // 2)
        writer.write(ANSWER)
        burn("-", AFTERWARDS_US)
    writer.close()


async def main():
    server = await asyncio.start_server(serve, port=int(sys.argv[1]))
    background()
    await server.serve_forever()


asyncio.run(main())
