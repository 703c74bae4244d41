# SPDX-License-Identifier: Apache-2.0
"""HTTP server on port 8080 that answers each request with the fields it got, and the body's hash.

The answer's body: a line for each field of the request, `name: value`, then `body: SHA-256`.
"""
import hashlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        lines = [f"{name.lower()}: {value}" for name, value in self.headers.items()]
        lines.append(f"body: {hashlib.sha256(body).hexdigest()}")
        answer = "".join(line + "\n" for line in lines).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

    def log_message(self, *_):
        """Nothing: the client sees all there is to see."""


ThreadingHTTPServer(("", 8080), Echo).serve_forever()
