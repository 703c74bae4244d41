# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that says which traceparent it got, and a client with one long connection."""
import http.client
import http.server
import socketserver
import threading

import hooks


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: nothing waits for a delayed acknowledgement

    def do_GET(self):  # noqa: N802
        headers = self.headers.get_all("traceparent") or []
        body = f"{self.path} {len(headers)}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def serve(host, address="127.0.0.1", port=0):
    """Serve in the host's namespace from a thread of this process. Returns the server."""
    with hooks.inside(host):
        server = Server((address, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Client:
    """One connection, used for all requests."""

    def __init__(self, host, server):
        with hooks.inside(host):
            self.connection = http.client.HTTPConnection(*server.server_address[:2], timeout=10)
            self.connection.connect()
        self.sent = 0

    def request(self):
        """One request. Returns how many traceparent headers the server got with it."""
        self.sent += 1
        self.connection.request("GET", f"/{self.sent}")
        path, headers = self.connection.getresponse().read().split()
        if path != f"/{self.sent}".encode():
            raise RuntimeError(f"asked for /{self.sent}, got the answer to {path}")
        return int(headers)

    def tuple(self):
        """(address, port) of this end and the other."""
        return self.connection.sock.getsockname()[:2], self.connection.sock.getpeername()[:2]

    def close(self):
        self.connection.close()
