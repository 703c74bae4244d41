# SPDX-License-Identifier: Apache-2.0
"""jobs.py PORT: calls whose x-request-id says whose they are, or is one of its own.

GET /own      the thread that reads it makes the call, with the id that the request brought
GET /job/ID   a thread that a pipe tells makes it, with this id, before the answer
GET /later/ID the same, after the answer
GET /hold     is answered when the client has closed
UPSTREAM has ADDRESS:PORT.
"""
import http.client
import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORKERS, ID = 4, 16
LATER = 0.1  # seconds: by then the answer is out
reads, writes = os.pipe()
done = {}    # threading.Event by id


def call(request_id):
    made = http.client.HTTPConnection(os.environ["UPSTREAM"], timeout=20)
    made.request("GET", "/called", headers={"x-request-id": request_id, "x-truth": request_id})
    made.getresponse().read()
    made.close()


def work():
    while job := os.read(reads, ID + 1).decode():
        if job[0] == "l":
            time.sleep(LATER)
        call(job[1:])
        done[job[1:]].set()


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        what, _, job = self.path[1:].partition("/")
        if what == "own":
            call(self.headers["x-request-id"])
        elif what == "hold":
            self.connection.recv(1)
        else:
            done[job] = threading.Event()
            os.write(writes, (what[0] + job).encode())
            if what == "job":
                done[job].wait(20)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    address_family, daemon_threads, request_queue_size = socket.AF_INET6, True, 128


for _ in range(WORKERS):
    threading.Thread(target=work, daemon=True).start()
Server(("::", int(sys.argv[1])), Service).serve_forever()
