# SPDX-License-Identifier: Apache-2.0
"""tornado_app.py PORT: Tornado. Environment: those of burn.py; BACKGROUND: a task burns for nobody."""
import asyncio
import logging
import os
import sys

from burn import BACKGROUND_SECONDS, PAUSE_SECONDS, burn_slice
from tornado.web import Application, RequestHandler


class Handler(RequestHandler):
    async def get(self):
        burn_slice(self.request.query)
        await asyncio.sleep(PAUSE_SECONDS)
        burn_slice(self.request.query)
        self.write("ok")


async def main():
    logging.getLogger("tornado.access").setLevel(logging.ERROR)
    Application([("/[ab]", Handler)]).listen(int(sys.argv[1]))
    while "BACKGROUND" in os.environ:
        burn_slice("-")
        await asyncio.sleep(BACKGROUND_SECONDS)
    await asyncio.Event().wait()


asyncio.run(main())
