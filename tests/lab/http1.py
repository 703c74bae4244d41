# SPDX-License-Identifier: Apache-2.0
"""Reading HTTP/1 messages from a socket, to the byte: heads as they came, bodies decoded."""
import re

TRACEPARENT = re.compile(rb"^traceparent[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.I | re.M)


class Closed(Exception):
    """The stream ended between two messages."""


class Reader:
    """A byte source with a buffer. `receive(n)` returns up to n bytes, b"" at the end."""

    def __init__(self, receive):
        self.receive, self.buffer, self.taken = receive, bytearray(), bytearray()

    def fill(self):
        data = self.receive(65536)
        if not data:
            raise EOFError("the stream ends inside a message")
        self.buffer += data

    def take(self, n):
        """Exactly n bytes."""
        while len(self.buffer) < n:
            self.fill()
        data = bytes(self.buffer[:n])
        del self.buffer[:n]
        return data

    def take_to(self, pattern):
        """All bytes up to and with the first match of a compiled pattern."""
        while not (found := pattern.search(self.buffer)):
            self.fill()
        return self.take(found.end())


class Head:
    """A request or status line with its fields, as bytes and taken apart. Blanks behind a value are
    kept, as some servers do."""

    END = re.compile(rb"\r?\n\r?\n")

    def __init__(self, raw):
        self.raw = raw
        lines = re.split(rb"\r?\n", raw)
        self.start = lines[0].decode("latin-1")
        self.fields = [tuple(part.lstrip().decode("latin-1") for part in line.split(b":", 1))
                       for line in lines[1:] if line]

    def all(self, name):
        """Every value of a field."""
        return [field[1] for field in self.fields if field[0].lower() == name]

    def get(self, name, default=""):
        return next(iter(self.all(name)), default)


def read_head(reader):
    """The next head; raises Closed where the stream ends before its first byte."""
    if not reader.buffer:
        data = reader.receive(65536)
        if not data:
            raise Closed()
        reader.buffer += data
    return Head(reader.take_to(Head.END))


def read_chunked(reader):
    """A chunked body, decoded; trailers are dropped."""
    line = re.compile(rb"\r?\n")
    body = b""
    while size := int(reader.take_to(line).split(b";")[0], 16):
        body += reader.take(size)
        reader.take_to(line)
    while reader.take_to(line).strip():
        pass
    return body


def read_body(reader, head):
    """The body of a request."""
    if head.get("transfer-encoding").lower().endswith("chunked"):
        return read_chunked(reader)
    return reader.take(int(head.get("content-length", "0")))


def read_response(reader):
    """Head and body of the next final response (never that of a HEAD request)."""
    head = read_head(reader)
    while head.start.split()[1].startswith("1"):
        head = read_head(reader)
    return head, read_body(reader, head)
