#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""As burn_server.c (without its writer), in Python: burn.py PORT TRUTH."""
import http.server
import os
import sys
import threading
import time

AFTERWARDS_US, BACKGROUND_US, PAUSE_SECONDS = 4000, 2000, 0.01
TRUTH = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def burn(request, cpu_us):
    end = time.thread_time_ns() + cpu_us * 1000
    start = time.monotonic_ns()
    while time.thread_time_ns() < end:
        sum(range(1000))
    line = f"{os.getpid()} {threading.get_native_id()} {start} {time.monotonic_ns()} {request}\n"
    os.write(TRUTH, line.encode())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        _, cpu_us, request = self.path.split("/")
        burn(request, int(cpu_us))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        burn("-", AFTERWARDS_US)

    def log_message(self, *_):
        """Nothing: the truth file tells it all."""


def background():
    while True:
        burn("-", BACKGROUND_US)
        time.sleep(PAUSE_SECONDS)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


threading.Thread(target=background, daemon=True).start()
Server(("", int(sys.argv[1])), Handler).serve_forever()
