#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of a protocol that is no HTTP: opaque.py PORT

A connection brings two numbers of four bytes, then so many bytes as the first says; it is sent so
many back as the second says, and closed. If the second is RESET, it is reset.
"""
import socket
import struct
import sys
import threading

HEAD = struct.Struct("=II")
RESET = 0xffffffff
AT_ONCE = struct.pack("ii", 1, 0)  # for SO_LINGER: close() sends a RST


def read_whole(stream, size):
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(stream):
    with stream:
        try:
            size, answer = HEAD.unpack(read_whole(stream, HEAD.size))
            read_whole(stream, size)
        except (EOFError, OSError):
            return
        if answer == RESET:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        else:
            stream.sendall(b"\0" * answer)


def main():
    with socket.create_server(("", int(sys.argv[1])), backlog=256) as listener:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
