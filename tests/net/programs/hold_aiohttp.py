# SPDX-License-Identifier: Apache-2.0
"""
hold_aiohttp.py PORT: holds requests, GET /sleep/SECONDS or /burn/SECONDS, and writes a line for each
as it begins: its traceparent, and the address of its task's context.
"""
import asyncio
import contextvars
import gc
import sys
import time

from aiohttp import web


def context_of(task):
    """Of the contexts that a task refers to its own is the only one while nobody waits for it."""
    return next(id(found) for found in gc.get_referents(task)
                if isinstance(found, contextvars.Context))


def tell(request):
    print(request.headers["traceparent"], hex(context_of(asyncio.current_task())), flush=True)


async def sleep(request):
    tell(request)
    await asyncio.sleep(float(request.match_info["seconds"]))
    return web.Response(text="ok")


async def burn(request):
    tell(request)
    end = time.monotonic() + float(request.match_info["seconds"])
    while time.monotonic() < end:
        pass
    return web.Response(text="ok")


application = web.Application()
application.router.add_get("/sleep/{seconds}", sleep)
application.router.add_get("/burn/{seconds}", burn)
web.run_app(application, host="0.0.0.0", port=int(sys.argv[1]), print=None)
