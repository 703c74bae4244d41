# SPDX-License-Identifier: Apache-2.0
"""streams.py ADDRESS PORT: asyncio without a framework, a task per connection.

The target is the plan, as in calls.py; MODE is s, p or q (by the threads of a pool, for a task made
for the request). Environment: WORKERS (so many tasks, made
by the first request, take the calls of all requests from a queue), LIMIT (at most so many calls at
once: who is done begins a task for the next), GOES_ON (and goes on for so many ms itself), LOCK (a background task makes its calls when it gets
a lock that requests hold now and then).
"""
import asyncio
import collections
import os
import random
import sys

from calls import NEW_CONNECTION, UPSTREAM, call as call_blocking, copied, pool, read_plan

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
WORKERS = int(os.environ.get("WORKERS", 0))
LIMIT = int(os.environ.get("LIMIT", 0))
GOES_ON = int(os.environ.get("GOES_ON", 0))
LOCK = "LOCK" in os.environ
kept, workers = [], []
waiting, running = collections.deque(), set()


async def read_fields(reader):
    """(first line, {name: value}) of a head."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    return first, {name.lower(): value.strip() for name, value in
                   (line.split(":", 1) for line in lines)}


async def call(fields):
    if kept and random.random() >= NEW_CONNECTION:
        reader, writer = kept.pop()
    else:
        reader, writer = await asyncio.open_connection(*UPSTREAM.split(":"))
    lines = ["GET / HTTP/1.1", f"Host: {UPSTREAM}", *(f"{n}: {v}" for n, v in fields.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    _, answer = await read_fields(reader)
    await reader.readexactly(int(answer["content-length"]))
    kept.append((reader, writer))


async def worker(jobs):
    while True:
        fields, done = await jobs.get()
        await call(fields)
        done.set_result(None)


async def hand_over(jobs, fields):
    """The call is made by a worker."""
    if not workers:
        workers.extend(asyncio.create_task(worker(jobs)) for _ in range(WORKERS))
    done = asyncio.get_running_loop().create_future()
    jobs.put_nowait((fields, done))
    await done


async def run(fields, done):
    await call(fields)
    running.remove(asyncio.current_task())
    run_next()
    if GOES_ON:
        await asyncio.sleep(0)
        await asyncio.sleep(GOES_ON / 1000)
    done.set_result(None)


def run_next():
    if waiting and len(running) < LIMIT:
        running.add(asyncio.create_task(run(*waiting.popleft())))


async def take_turns(fields):
    """The call is made when its turn comes."""
    done = asyncio.get_running_loop().create_future()
    waiting.append((fields, done))
    run_next()
    await done


async def by_threads(plan, fields):
    for _ in range(plan.calls):
        await asyncio.get_running_loop().run_in_executor(pool, call_blocking, fields)


async def work(plan, fields, tools):
    one = (lambda: hand_over(tools.jobs, fields)) if WORKERS else \
        (lambda: take_turns(fields)) if LIMIT else (lambda: call(fields))
    await asyncio.sleep(plan.before / 1000)
    if LOCK:
        async with tools.lock:
            await asyncio.sleep(0.001)
    if plan.mode == "q":
        await asyncio.create_task(by_threads(plan, fields))
    elif plan.mode == "p":
        await asyncio.gather(*[one() for _ in range(plan.calls)])
    else:
        for number in range(plan.calls):
            await asyncio.sleep(plan.between / 1000 if number else 0)
            await one()
    await asyncio.sleep(plan.after / 1000)


class Tools:
    def __init__(self):
        self.jobs, self.lock = asyncio.Queue(), asyncio.Lock()

    async def serve(self, reader, writer):
        try:
            while True:
                first, fields = await read_fields(reader)
                await work(read_plan(first.split(" ")[1]), copied(fields.get), self)
                writer.write(ANSWER)
                if fields.get("connection") == "close":
                    break
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def background(self):
        while LOCK:
            async with self.lock:
                await call({"x-truth": "none"})
            await asyncio.sleep(random.uniform(0, 0.008))


async def main():
    tools = Tools()
    task = asyncio.create_task(tools.background())
    server = await asyncio.start_server(tools.serve, sys.argv[1], int(sys.argv[2]), backlog=1024)
    async with server:
        await server.serve_forever()
    task.cancel()


asyncio.run(main())
