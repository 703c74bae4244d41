# SPDX-License-Identifier: Apache-2.0
"""threads.py ADDRESS PORT: ThreadingHTTPServer, a thread per connection.

Environment: CONTEXTS (each thread works in a context inside a context).
"""
import contextvars
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from calls import background, copied, read_plan, work


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        work(read_plan(self.path), copied(self.headers.get))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024

    def process_request_thread(self, *request):
        work_on = super().process_request_thread
        if "CONTEXTS" in os.environ:
            contextvars.copy_context().run(contextvars.copy_context().run, work_on, *request)
        else:
            work_on(*request)


def main(service):
    background()
    Server((sys.argv[1], int(sys.argv[2])), service).serve_forever()


if __name__ == "__main__":
    main(Service)
