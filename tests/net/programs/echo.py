# SPDX-License-Identifier: Apache-2.0
"""echo.py PORT: answers with the fields of the request and the length of its body, as JSON."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def chunks(self):
        length = 0
        while size := int(self.rfile.readline().split(b";")[0], 16):
            length += len(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return length

    def do_POST(self):
        length = self.chunks() if self.headers["transfer-encoding"] == "chunked" else \
            len(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"fields": self.headers.items(), "length": length}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("", int(sys.argv[1])), Echo).serve_forever()
