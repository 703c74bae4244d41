# SPDX-License-Identifier: Apache-2.0
"""threads.py PORT: ThreadingHTTPServer. Environment: those of burn.py; WAY: pool: the second slice of a request is done by a
ThreadPoolExecutor, queue: by threads that take work out of a queue.Queue; BACKGROUND: a thread burns for nobody."""
import concurrent.futures
import http.server
import os
import queue
import sys
import threading
import time

from burn import PAUSE_SECONDS, burn_slice, start_background

WORKERS = 4
WAY = os.environ.get("WAY")
JOBS = queue.Queue()
POOL = concurrent.futures.ThreadPoolExecutor(WORKERS)


def take_jobs():
    while True:
        request, done = JOBS.get()
        burn_slice(request)
        done.set()


def hand_over(request):
    """By JOBS; returns when the work is done."""
    done = threading.Event()
    JOBS.put((request, done))
    done.wait()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        request = self.path.split("?")[1]
        burn_slice(request)
        time.sleep(PAUSE_SECONDS)
        if WAY == "pool":
            POOL.submit(burn_slice, request).result()
        elif WAY == "queue":
            hand_over(request)
        else:
            burn_slice(request)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        """Nothing."""


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


if WAY == "queue":
    for _ in range(WORKERS):
        threading.Thread(target=take_jobs, daemon=True).start()
start_background()
Server(("", int(sys.argv[1])), Handler).serve_forever()
