#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary service that was never instrumented: service.py PORT UPSTREAM_HOST UPSTREAM_PORT

For each request it asks the upstream twice, once on a new connection and once on one that it
keeps, and answers with what the upstream said. It passes on the body and the X- fields, and a
traceparent only if its caller sent one from the outside (as a library in it might do).
"""
import http.client
import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, HOST, UPSTREAM = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


class Kept:
    """One keep-alive connection to the upstream."""

    def __init__(self):
        self.lock, self.connection = threading.Lock(), http.client.HTTPConnection(HOST, UPSTREAM)

    def ask(self, method, path, body, fields):
        with self.lock:
            self.connection.request(method, path, body, fields)
            return json.load(self.connection.getresponse())


KEPT = Kept()


def ask_anew(method, path, body, fields):
    request = urllib.request.Request(f"http://{HOST}:{UPSTREAM}{path}", body, fields, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
        fields = {name: value for name, value in self.headers.items() if name.startswith("X-")}
        if "X-Pass-On" in fields:
            fields["traceparent"] = self.headers["traceparent"]
        call = self.command, self.path, body, fields
        self.reply({"new": ask_anew(call[0], "/new" + self.path, *call[2:]),
                    "kept": KEPT.ask(call[0], "/kept" + self.path, *call[2:])})

    do_GET = do_POST = serve

    def reply(self, document):
        text = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", PORT), Service).serve_forever()
