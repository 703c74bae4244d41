# SPDX-License-Identifier: Apache-2.0
"""ASGI applications for uvicorn: asgi:fastapi, asgi:starlette, asgi:quart. Environment: those of burn.py; WAY: def: endpoints
are no coroutines, so that threads of anyio's run them; BACKGROUND: a task burns for nobody."""
import asyncio
import os
import time

from burn import BACKGROUND_SECONDS, PAUSE_SECONDS, burn_slice

TASKS = []


async def background():
    while True:
        burn_slice("-")
        await asyncio.sleep(BACKGROUND_SECONDS)


async def begin():
    if "BACKGROUND" in os.environ:
        TASKS.append(asyncio.create_task(background()))


async def work(request):
    burn_slice(request)
    await asyncio.sleep(PAUSE_SECONDS)
    burn_slice(request)


def work_in_thread(request):
    burn_slice(request)
    time.sleep(PAUSE_SECONDS)
    burn_slice(request)


def fastapi():
    from fastapi import FastAPI, Request
    from fastapi.responses import PlainTextResponse
    app = FastAPI(on_startup=[begin])

    async def serve(request: Request):
        await work(request.url.query)
        return PlainTextResponse("ok")

    def serve_in_thread(request: Request):
        work_in_thread(request.url.query)
        return PlainTextResponse("ok")

    for path in "/a", "/b":
        app.get(path)(serve_in_thread if os.environ.get("WAY") == "def" else serve)
    return app


def starlette():
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def serve(request):
        await work(request.url.query)
        return PlainTextResponse("ok")

    def serve_in_thread(request):
        work_in_thread(request.url.query)
        return PlainTextResponse("ok")

    endpoint = serve_in_thread if os.environ.get("WAY") == "def" else serve
    return Starlette(routes=[Route("/a", endpoint), Route("/b", endpoint)], on_startup=[begin])


def quart():
    from quart import Quart, request
    app = Quart("samples")

    async def serve():
        await work(request.query_string.decode())
        return "ok"

    for path in "/a", "/b":
        app.add_url_rule(path, path[1:], serve)
    app.before_serving(begin)
    return app
