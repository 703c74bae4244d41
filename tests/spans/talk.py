# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 byte by byte, so that both ends know how many bytes each message has."""
import json
import time


class Reader:
    """Messages of one stream, whole."""

    def __init__(self, sock):
        self.sock, self.rest = sock, b""

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        self.rest += data

    def message(self):
        """(head, bytes of head and body); EOFError at the end of the stream."""
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, _, _ = self.rest.partition(b"\r\n\r\n")
        head += b"\r\n\r\n"
        size = len(head) + length_of(head)
        while len(self.rest) < size:
            self.more()
        self.rest = self.rest[size:]
        return head.decode("latin-1"), size


def length_of(head):
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def request(path, body=b"", method="GET"):
    length = f"content-length: {len(body)}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nhost: truth\r\n{length}\r\n".encode() + body


def response(status, body=b""):
    return f"HTTP/1.1 {status} Truth\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def status_of(head):
    return int(head.split()[1])


class Log:
    """What happened, one JSON document per line."""

    def __init__(self, path):
        self.file = open(path, "a", buffering=1, encoding="ascii")

    def tell(self, **what):
        self.file.write(json.dumps(what) + "\n")


def clock():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)
