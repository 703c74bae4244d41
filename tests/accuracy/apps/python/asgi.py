# SPDX-License-Identifier: Apache-2.0
"""An ASGI application of Starlette's, for uvicorn: asgi:application.

Target and environment are those of calls.py. MODE is s (one after the other), p (gathered) or g (by
a task group), with httpx; or d: the endpoint is no coroutine, so that a thread of anyio's runs it;
q: that one has a pool make the calls; b: as s, and a background task calls once more when the response
is sent (x-truth: none). Environment: CONNECTIONS (at most so many to the upstream).
"""
import asyncio
import os

import anyio
import httpx
from calls import UPSTREAM, copied, read_plan, work
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CONNECTIONS = int(os.environ.get("CONNECTIONS", 0)) or None
BEHIND_SECONDS = 0.005
MIDDLEWARE = int(os.environ.get("MIDDLEWARE", 0))
limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
client = httpx.AsyncClient(limits=limits, timeout=30)


async def call(fields):
    await client.get(f"http://{UPSTREAM}/", headers=fields)


async def work_in_loop(plan, fields):
    await asyncio.sleep(plan.before / 1000)
    if plan.mode == "p":
        await asyncio.gather(*[call(fields) for _ in range(plan.calls)])
    elif plan.mode == "g":
        async with anyio.create_task_group() as group:
            for _ in range(plan.calls):
                group.start_soon(call, fields)
    else:
        for number in range(plan.calls):
            await asyncio.sleep(plan.between / 1000 if number else 0)
            await call(fields)
    await asyncio.sleep(plan.after / 1000)


async def behind():
    await asyncio.sleep(BEHIND_SECONDS)
    await call({"x-truth": "none"})


async def serve(request):
    plan = read_plan(request.url.path)
    await work_in_loop(plan, copied(request.headers.get))
    return PlainTextResponse("ok", background=BackgroundTask(behind) if plan.mode == "b" else None)


def serve_in_thread(request):
    plan = read_plan(request.url.path)
    work(plan._replace(mode="s") if plan.mode == "d" else plan, copied(request.headers.get))
    return PlainTextResponse("ok")


async def pass_on(request, call_next):
    return await call_next(request)


application = Starlette(
    middleware=[Middleware(BaseHTTPMiddleware, dispatch=pass_on)] * MIDDLEWARE,
    routes=[
        *[Route("/{before}/{between}/{after}/{calls}/" + mode, serve_in_thread) for mode in "dq"],
        Route("/{plan:path}", serve)])
