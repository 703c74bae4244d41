# SPDX-License-Identifier: Apache-2.0
"""A WSGI application for gunicorn's workers, whose time.sleep() is that of gevent or eventlet where they are theirs:
wsgi:application. Environment: those of burn.py; BACKGROUND: a thread, or greenlet, burns for nobody."""
import threading
import time

from burn import PAUSE_SECONDS, burn_slice, start_background

FIRST = threading.Lock()  # in a worker the background begins with its first request: then all is patched


def application(environ, start_response):
    if FIRST.acquire(blocking=False):
        start_background()
    burn_slice(environ["QUERY_STRING"])
    time.sleep(PAUSE_SECONDS)
    burn_slice(environ["QUERY_STRING"])
    start_response("200 OK", [("Content-Length", "2"), ("Content-Type", "text/plain")])
    return [b"ok"]
