#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A service that copies no field: service.py PORT UPSTREAM-ADDRESS UPSTREAM-PORT

GET /NAME/COUNT calls the upstream's /NAME/0, /NAME/1... in the thread that read the request, each
on a connection of its own, then answers.
"""
import http.client
import http.server
import sys

UPSTREAM = (sys.argv[2], int(sys.argv[3]))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        _, name, count = self.path.split("/")
        for number in range(int(count)):
            call = http.client.HTTPConnection(*UPSTREAM, timeout=10)
            call.request("GET", f"/{name}/{number}")
            call.getresponse().read()
            call.close()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        """Nothing: the upstream's record tells it all."""


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
