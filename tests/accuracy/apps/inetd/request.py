# SPDX-License-Identifier: Apache-2.0
"""request.py: serves the connection that it has as its standard input and output, as inetd makes it.

The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in milliseconds. MODE is who makes
the calls: s it does itself; c a program that it runs for each; g one that a shell runs for it; o as
s, and it leaves a shell that runs one later, for no request. Environment: UPSTREAM (host:port).
"""
import os
import socket
import sys
import time

UPSTREAM = os.environ["UPSTREAM"]
CURL = ["curl", "-s", "-o", "/dev/null", "-H"]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%s\r\nok"
LATER = 0.02  # seconds until what is left calls


def spawn(*argv):
    return os.posix_spawnp(argv[0], argv, os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0)
                                         for fd in (0, 1)])


def by_itself(truth):
    host, port = UPSTREAM.split(":")
    with socket.create_connection((host, int(port))) as upstream:
        upstream.sendall(f"GET / HTTP/1.1\r\nHost: up\r\nx-truth: {truth}\r\n"
                         "Connection: close\r\n\r\n".encode())
        while upstream.recv(4096):
            pass


def by_program(truth):
    os.waitpid(spawn(*CURL, f"x-truth: {truth}", UPSTREAM), 0)


def by_shell(truth, first=":"):
    return spawn("sh", "-c", f'{first}; curl -s -H "x-truth: $0" "$UPSTREAM" | cat >&2', truth)


def call(mode, truth):
    if mode == "c":
        by_program(truth)
    elif mode == "g":
        os.waitpid(by_shell(truth), 0)
    else:
        by_itself(truth)


def work(before, between, after, calls, mode, truth):
    time.sleep(int(before) / 1000)
    for number in range(int(calls)):
        if number:
            time.sleep(int(between) / 1000)
        call(mode, truth)
    if mode == "o":
        by_shell("none", f"sleep {LATER}")
    time.sleep(int(after) / 1000)


def read_head():
    """(target, fields) of the next request; None: there is none."""
    target = sys.stdin.buffer.readline().split()
    if len(target) < 2:
        return None
    fields = {}
    while (line := sys.stdin.buffer.readline().decode().strip()):
        name, value = line.split(":", 1)
        fields[name.lower()] = value.strip()
    return target[1].decode(), fields


def main():
    while (head := read_head()):
        target, fields = head
        work(*target.strip("/").split("/"), fields["x-truth"])
        last = fields.get("connection") == "close"
        sys.stdout.buffer.write(ANSWER % (b"Connection: close\r\n" if last else b""))
        sys.stdout.buffer.flush()
        if last:
            break


main()
