# SPDX-License-Identifier: Apache-2.0
"""A server that says hello: hello.py aiohttp|gevent PORT."""
import sys


def with_aiohttp(port):
    from aiohttp import web

    async def hello(_):
        return web.Response(text="hello")

    app = web.Application()
    app.router.add_get("/", hello)
    web.run_app(app, port=port, print=None, access_log=None)


def with_gevent(port):
    from gevent.pywsgi import WSGIServer

    def hello(_, start_response):
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
        return [b"hello"]

    WSGIServer(("0.0.0.0", port), hello, log=None).serve_forever()


{"aiohttp": with_aiohttp, "gevent": with_gevent}[sys.argv[1]](int(sys.argv[2]))
