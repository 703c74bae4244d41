# SPDX-License-Identifier: Apache-2.0
"""echo_aiohttp.py PORT: answers with the fields of the request and the length of its body, as JSON."""
import sys

from aiohttp import web


async def echo(request):
    fields = [[name.decode("latin-1"), value.decode("latin-1")]
              for name, value in request.raw_headers]
    return web.json_response({"fields": fields, "length": len(await request.read())})


application = web.Application()
application.router.add_route("*", "/{path:.*}", echo)
web.run_app(application, host=None, port=int(sys.argv[1]), print=None)
