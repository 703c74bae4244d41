#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests with numbers: client.py HOST PORT LOG FIRST COUNT THREADS

Each thread has a connection for ten requests, then another one.
"""
import socket
import sys
import threading

from talk import Log, Reader, clock, request, status_of

HOST, PORT = sys.argv[1], int(sys.argv[2])
FIRST, COUNT, THREADS = map(int, sys.argv[4:7])
PER_CONNECTION = 10


def ask(sock, reader, log, number):
    text = request(f"/api/{number}?token=secret", b"c" * (number % 5 * 400),
                   "POST" if number % 5 else "GET")
    begin = clock()
    sock.sendall(text)
    head, got = reader.message()
    log.tell(kind="asked", number=number, begin=begin, end=clock(), sent=len(text), got=got,
             status=status_of(head))


def run(log, numbers):
    for i in range(0, len(numbers), PER_CONNECTION):
        with socket.create_connection((HOST, PORT)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = Reader(sock)
            for number in numbers[i:i + PER_CONNECTION]:
                ask(sock, reader, log, number)


def main():
    log = Log(sys.argv[3])
    numbers = range(FIRST, FIRST + COUNT)
    threads = [threading.Thread(target=run, args=(log, numbers[i::THREADS]))
               for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
