# SPDX-License-Identifier: Apache-2.0
"""A server whose requests burn CPU: GET /quick for a little, GET /late/TIME for a second, and then it answers at
that time (seconds since 1970).

    continuous_server.py PORT
"""
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

QUICK_SECONDS, LATE_SECONDS = 0.05, 1


def burn_quick():
    end = time.thread_time() + QUICK_SECONDS
    while time.thread_time() < end:
        pass


def burn_late():
    end = time.thread_time() + LATE_SECONDS
    while time.thread_time() < end:
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/quick":
            burn_quick()
        else:
            burn_late()
            time.sleep(max(0, int(self.path.split("/")[2]) - time.time()))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
