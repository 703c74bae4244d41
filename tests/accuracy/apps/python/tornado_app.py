# SPDX-License-Identifier: Apache-2.0
"""tornado_app.py ADDRESS PORT: Tornado, server and client.

MODE is s (one after the other) or p (gathered), as in calls.py; so is the target. Environment: also
CONNECTIONS, the most calls at once (more wait in a list of the client's; default: any number).
"""
import asyncio
import logging
import os
import sys

from calls import UPSTREAM, copied, read_plan
from tornado.httpclient import AsyncHTTPClient
from tornado.web import Application, RequestHandler

ANY_NUMBER = 1 << 16


async def pause(milliseconds):
    if milliseconds:
        await asyncio.sleep(milliseconds / 1000)


async def call(fields):
    await AsyncHTTPClient().fetch(f"http://{UPSTREAM}/", headers=fields)


class Handler(RequestHandler):
    async def get(self):
        plan, fields = read_plan(self.request.path), copied(self.request.headers.get)
        await pause(plan.before)
        if plan.mode == "p":
            await asyncio.gather(*[call(fields) for _ in range(plan.calls)])
        else:
            for number in range(plan.calls):
                await pause(plan.between if number else 0)
                await call(fields)
        await pause(plan.after)
        self.write("ok")


async def main():
    most = int(os.environ.get("CONNECTIONS", ANY_NUMBER))
    AsyncHTTPClient.configure(None, max_clients=most)
    Application([("/.*", Handler)]).listen(int(sys.argv[2]), sys.argv[1], backlog=1024)
    await asyncio.Event().wait()


logging.disable()
asyncio.run(main())
