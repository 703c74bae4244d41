# SPDX-License-Identifier: Apache-2.0
"""A WSGI application, for gunicorn: wsgi:application."""
from calls import copied, read_plan, work


def application(environ, start_response):
    def field(name):
        return environ.get("HTTP_" + name.upper().replace("-", "_"))
    work(read_plan(environ["PATH_INFO"]), copied(field))
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
