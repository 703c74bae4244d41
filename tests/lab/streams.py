# SPDX-License-Identifier: Apache-2.0
"""Sockets of a test, made in the namespaces of its lab and used from one process."""
import contextlib
import select
import socket
import struct
import threading
import time

SECONDS = 10
ACCEPT_SECONDS = 30  # the end of a handshake may be lost again and again


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listen(host, address, port=0, backlog=1024, before=lambda s: None):
    """A listening socket in a host; `before(socket)` sets options before it listens."""
    with host.inside():
        s = socket.socket(family(address), socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    before(s)
    s.bind((address, port))
    s.listen(backlog)
    s.settimeout(ACCEPT_SECONDS)
    return s


def connect(host, to, source=None, before=lambda s: None):
    """A connected socket in a host; to, source: (address, port)."""
    with host.inside():
        s = socket.socket(family(to[0]), socket.SOCK_STREAM)
    s.settimeout(SECONDS)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    before(s)
    if source:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(source)
    s.connect(to[:2])
    return s


def accept(listener):
    s, _ = listener.accept()
    s.settimeout(SECONDS)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def reset_on_close(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextlib.contextmanager
def joined(client_host, server_host, address, **kw):
    """A connection: (the client's socket, the server's)."""
    with listen(server_host, address) as listener:
        with connect(client_host, listener.getsockname(), **kw) as c, accept(listener) as s:
            yield c, s


def receive(sock, n, seconds=SECONDS):
    """Exactly n bytes; raises AssertionError with what did come when they do not."""
    data, end = bytearray(), time.monotonic() + seconds
    while len(data) < n:
        ready = select.select([sock], [], [], max(0, end - time.monotonic()))[0]
        piece = sock.recv(min(n - len(data), 1 << 20)) if ready else b""
        if not piece:
            why = "closed" if ready else f"nothing more within {seconds} s"
            raise AssertionError(f"{len(data)} of {n} bytes came, then: {why}; "
                                 f"the last of them {bytes(data[-80:])!r}")
        data += piece
    return bytes(data)


def quiet(sock, seconds=0.02):
    """Raise AssertionError if anything more comes."""
    if select.select([sock], [], [], seconds)[0] and (more := sock.recv(65536)):
        raise AssertionError(f"more came than was sent: {more[:160]!r}")


class Sending(threading.Thread):
    """Send all of `data` while the caller receives. join() raises what went wrong."""

    def __init__(self, sock, data):
        super().__init__(daemon=True)
        self.sock, self.data, self.error = sock, data, None
        self.start()

    def run(self):
        try:
            self.sock.sendall(self.data)
        except OSError as error:
            self.error = error

    def finish(self):
        self.join(SECONDS)
        if self.error or self.is_alive():
            raise AssertionError(f"sending: {self.error or 'does not end'}")


def send_through(sender, receiver, data, n=None):
    """Send data while the other side reads; returns its n bytes (default: as many as sent)."""
    sending = Sending(sender, data)
    got = receive(receiver, len(data) if n is None else n)
    sending.finish()
    return got
