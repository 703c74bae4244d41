# SPDX-License-Identifier: Apache-2.0
"""Requests of a machine, and what became of them on their way to a server."""
import re
import socket

from http1 import Reader, read_response

HEAD = b"GET /live HTTP/1.1\r\nHost: server\r\nX-Number: %d\r\n\r\n"
HEADER = re.compile(rb"traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\r\n")


def headers_of(recorder, sent):
    """How many headers the last request has got; that nothing else of it was changed is asserted."""
    arrived = recorder.requests[-1].head.raw
    plain, count = HEADER.subn(b"", arrived)
    assert plain == sent, f"sent {sent}, arrived {arrived}"
    return count


class Live:
    """A connection that stays open; each request on it has to be answered."""

    def __init__(self, host, recorder):
        self.recorder, self.number = recorder, 0
        with host.inside():
            self.socket = socket.create_connection((recorder.address, recorder.port), timeout=10)
        self.reader = Reader(self.socket.recv)

    def ask(self):
        """Send a request, read the answer. How many headers the request has got."""
        self.number += 1
        sent = HEAD % self.number
        self.socket.sendall(sent)
        head, _ = read_response(self.reader)
        assert head.start == "HTTP/1.1 200 OK", head.start
        return headers_of(self.recorder, sent)

    def close(self):
        self.socket.close()
