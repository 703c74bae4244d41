# SPDX-License-Identifier: Apache-2.0
"""An HTTP/1 server that keeps every request as it arrived.

In a test: `Recorder(host, address)`. On its own, for the demo: `recorder.py ADDRESS PORT FILE`
appends one JSON line per request to FILE.
"""
import hashlib
import json
import os
import socket
import sys
import threading

from http1 import Closed, Reader, read_body, read_head


class Request:
    """One request: its head, byte for byte, and what its body came to."""

    def __init__(self, head, body):
        self.head, self.length = head, len(body)
        self.sha256 = hashlib.sha256(body).hexdigest()
        self.method, self.target = head.start.split(" ")[:2]
        self.traceparents = head.all("traceparent")

    def facts(self):
        return {"target": self.target, "head": self.head.raw.decode("latin-1"),
                "traceparents": self.traceparents, "length": self.length, "sha256": self.sha256}


def answer(request):
    """The answer to every request: what arrived, as JSON."""
    body = json.dumps({key: value for key, value in request.facts().items() if key != "head"})
    body = "" if request.method == "HEAD" else body + "\n"
    return (f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


class Recorder:
    """Serves until it is closed, one thread per connection."""

    def __init__(self, host, address, port=0):
        self.requests, self.broken, self.lock = [], [], threading.Lock()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with host.inside():
            self.listener = socket.create_server((address, port), family=family, backlog=2048)
        self.address, self.port = self.listener.getsockname()[:2]
        self.url = f"http://[{address}]:{self.port}" if ":" in address else \
            f"http://{address}:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.serve_requests(client)
        except Closed:
            pass
        except (OSError, EOFError, ValueError) as error:
            self.broken.append(f"{type(error).__name__}: {error}")

    def serve_requests(self, client):
        reader = Reader(client.recv)
        while True:
            head = read_head(reader)
            if head.get("expect").lower() == "100-continue":
                client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            request = Request(head, read_body(reader, head))
            self.keep(request)
            client.sendall(answer(request))
            if head.start.endswith("HTTP/1.0") or head.get("connection").lower() == "close":
                return

    def keep(self, request):
        with self.lock:
            self.requests.append(request)

    def clear(self):
        with self.lock:
            self.requests, self.broken = [], []

    def close(self):
        # close() alone would leave the thread in accept() on it.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class FileRecorder(Recorder):
    """Writes requests to a file instead of keeping them."""

    def __init__(self, address, port, path):
        self.file = open(path, "a", buffering=1)
        super().__init__(Here(), address, port)

    def keep(self, request):
        with self.lock:
            self.file.write(json.dumps(request.facts()) + "\n")


class Here:
    """The namespace that this process is in."""

    def inside(self):
        return open(os.devnull)


if __name__ == "__main__":
    FileRecorder(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    threading.Event().wait()
