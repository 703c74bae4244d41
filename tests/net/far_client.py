#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A TCP client in a process of its own, for tests that are the server themselves.

Reads one JSON list per line and answers each with one JSON value:
    ["connect", ADDRESS, PORT] -> number    ["send", number, TEXT] -> null
    ["read", number, COUNT] -> TEXT          ["end", number] -> null, no more will be sent
    ["close", number] -> null                ["reset", number] -> null
"""
import json
import socket
import sys

connections = []


def connect(address, port):
    connections.append(socket.create_connection((address, port), timeout=10))
    connections[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return len(connections) - 1


def send(number, text):
    connections[number].sendall(text.encode("latin-1"))


def read(number, count):
    """That many bytes, fewer at the end of the stream."""
    got = b""
    while len(got) < count and (more := connections[number].recv(count - len(got))):
        got += more
    return got.decode("latin-1")


def end(number):
    connections[number].shutdown(socket.SHUT_WR)


def close(number):
    connections[number].close()


def reset(number):
    connections[number].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connections[number].close()


COMMANDS = {call.__name__: call for call in (connect, send, read, end, close, reset)}
for line in sys.stdin:
    name, *arguments = json.loads(line)
    print(json.dumps(COMMANDS[name](*arguments)), flush=True)
