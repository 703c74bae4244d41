# SPDX-License-Identifier: Apache-2.0
"""aio.py PORT: aiohttp. Environment: those of burn.py; WAY: what is between and around two slices of a request: "" nothing,
await (a pause), executor (the second slice is a thread's); LOOP: uvloop; BACKGROUND: a task burns for nobody."""
import asyncio
import os
import sys

from aiohttp import web
from burn import BACKGROUND_SECONDS, PAUSE_SECONDS, burn_slice

WAY = os.environ.get("WAY")


async def serve(request):
    burn_slice(request.query_string)
    if WAY:
        await asyncio.sleep(PAUSE_SECONDS)
    if WAY == "executor":
        await asyncio.get_running_loop().run_in_executor(None, burn_slice, request.query_string)
    else:
        burn_slice(request.query_string)
    return web.Response(text="ok")


async def background():
    while True:
        burn_slice("-")
        await asyncio.sleep(BACKGROUND_SECONDS)


async def own_work(_):
    task = asyncio.create_task(background())
    yield
    task.cancel()


app = web.Application()
app.add_routes([web.get("/a", serve), web.get("/b", serve)])
if "BACKGROUND" in os.environ:
    app.cleanup_ctx.append(own_work)
if os.environ.get("LOOP") == "uvloop":
    import uvloop
    uvloop.install()
web.run_app(app, host="0.0.0.0", port=int(sys.argv[1]), access_log=None, print=None)
