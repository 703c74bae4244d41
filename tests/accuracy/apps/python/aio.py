# SPDX-License-Identifier: Apache-2.0
"""aio.py ADDRESS PORT: aiohttp, server and client in one event loop.

MODE is s (one after the other) or p (gathered), as in calls.py; so are the target and the
environment. LOOP: uvloop.
"""
import asyncio
import os
import random
import sys

import aiohttp
from aiohttp import web
from calls import UPSTREAM, copied, read_plan


async def pause(milliseconds):
    if milliseconds:
        await asyncio.sleep(milliseconds / 1000)


async def call(session, fields):
    async with session.get(f"http://{UPSTREAM}/", headers=fields) as answer:
        await answer.read()


async def serve(request):
    plan, fields = read_plan(request.path), copied(request.headers.get)
    session = request.app["session"]
    await pause(plan.before)
    if plan.mode == "p":
        await asyncio.gather(*[call(session, fields) for _ in range(plan.calls)])
    else:
        for number in range(plan.calls):
            await pause(plan.between if number else 0)
            await call(session, fields)
    await pause(plan.after)
    return web.Response(text="ok")


async def background(session):
    milliseconds = float(os.environ.get("BACKGROUND_MS", 0))
    while milliseconds:
        await pause(random.uniform(0, 2 * milliseconds))
        await call(session, {"x-truth": "none"})


async def session(app):
    connector = aiohttp.TCPConnector(limit=int(os.environ.get("CONNECTIONS", 0)))
    async with aiohttp.ClientSession(connector=connector) as app["session"]:
        task = asyncio.create_task(background(app["session"]))
        yield
        task.cancel()


app = web.Application()
app.cleanup_ctx.append(session)
app.router.add_get("/{plan:.*}", serve)
if os.environ.get("LOOP") == "uvloop":
    import uvloop
    uvloop.install()
web.run_app(app, host=sys.argv[1], port=int(sys.argv[2]), backlog=1024, access_log=None, print=None)
