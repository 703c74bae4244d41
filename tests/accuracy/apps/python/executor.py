# SPDX-License-Identifier: Apache-2.0
"""executor.py ADDRESS PORT: one thread reads all requests, a ThreadPoolExecutor does the work.

The worker writes the answer; the reader goes on with other connections meanwhile.
"""
import re
import selectors
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

from calls import copied, read_plan, work

WORKERS = 16
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
FIELD = re.compile(r"^([^:\r\n]+):[ \t]*(.*?)\r$", re.M)


class Connection:
    def __init__(self, sock):
        self.sock, self.text = sock, b""

    def read(self):
        """The head of a request, None while incomplete; EOFError at the end."""
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        self.text += data
        head, blank, rest = self.text.partition(b"\r\n\r\n")
        if not blank:
            return None
        self.text = rest
        return head.decode("latin-1") + "\r\n"

    def serve(self, head):
        fields = {name.lower(): value for name, value in FIELD.findall(head)}
        work(read_plan(head.split(" ", 2)[1]), copied(fields.get))
        self.sock.sendall(ANSWER)
        if fields.get("connection") == "close":
            self.sock.shutdown(socket.SHUT_RDWR)


def on_readable(connection, selector, workers):
    try:
        if head := connection.read():
            workers.submit(connection.serve, head)
    except (EOFError, OSError):
        selector.unregister(connection.sock)
        connection.sock.close()


def main():
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=1024)
    selector, workers = selectors.DefaultSelector(), ThreadPoolExecutor(WORKERS)
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.data:
                on_readable(key.data, selector, workers)
            else:
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(sock, selectors.EVENT_READ, Connection(sock))


if __name__ == "__main__":
    main()
