# SPDX-License-Identifier: Apache-2.0
"""A server whose name is no text, and that works for each request: foreign_server.py PORT"""
import os
import socket
import sys
import time

WORK_SECONDS = 0.03

with open(f"/proc/{os.getpid()}/comm", "wb") as comm:
    comm.write(b"s\xffh;\x1b\xc2\x9bop")
listener = socket.create_server(("", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    with connection:
        if not connection.recv(65536):
            continue
        end = time.thread_time() + WORK_SECONDS
        while time.thread_time() < end:
            pass
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
