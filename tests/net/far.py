# SPDX-License-Identifier: Apache-2.0
"""The clients of a case that is a server itself: a process of their own, so that the threads of
this one do nothing but serve.
"""
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from cases import equal

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Client:
    """One connection of the far client's, and its socket on this side."""

    def __init__(self, far, listener, address):
        self.far = far
        self.number = far.call("connect", address, listener.getsockname()[1])
        self.socket, _ = listener.accept()
        # It waits for what it reads, as the sockets of threads do; Python's own time limit would let it not.
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 10, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, text):
        self.far.call("send", self.number, text)

    def ask(self, start="GET / HTTP/1.1", fields="", body=""):
        """Send a request; returns its trace id."""
        trace = os.urandom(16).hex()
        self.send(head(trace, start, fields) + body)
        return trace

    def answered(self, answer=OK):
        self.socket.sendall(answer)
        self.got(answer)

    def got(self, answer):
        equal(self.far.call("read", self.number, len(answer)), answer.decode("latin-1"), "answer")

    def close(self):
        self.socket.close()


class Far:
    """The far client."""

    def __init__(self, host):
        self.process = host.spawn([sys.executable, "-B", Path(__file__).with_name("far_client.py")],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, *request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def head(trace, start="GET / HTTP/1.1", fields=""):
    return (f"{start}\r\nHost: serving\r\n{fields}"
            f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n")
