#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""As burn_server.c and burn_wait.c (without the writer), in Python: burn.py PORT TRUTH."""
import http.server
import os
import socket
import sys
import threading
import time

AFTERWARDS_US, BACKGROUND_US, PAUSE_SECONDS = 4000, 2000, 0.01
NAP_SECONDS, HOLD_SECONDS, REST_SECONDS, UPSTREAM_PORT = 0.1, 0.05, 0.001, 9000
QUESTION = b"GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n"
LOCK = threading.Lock()
TRUTH = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def burn(request, cpu_us):
    end = time.thread_time_ns() + cpu_us * 1000
    start = time.monotonic_ns()
    while time.thread_time_ns() < end:
        sum(range(1000))
    tell(start, request)


def tell(start, what):
    """Writes down that it took from `start` to now."""
    end = time.monotonic_ns()
    os.write(TRUTH, f"{os.getpid()} {threading.get_native_id()} {start} {end} {what}\n".encode())


def take_nap(_):
    time.sleep(NAP_SECONDS)


def take_lock(_):
    LOCK.acquire()


def hold_lock(_):
    time.sleep(HOLD_SECONDS)
    LOCK.release()


def ask_upstream(client):
    with socket.create_connection((client, UPSTREAM_PORT)) as upstream:
        upstream.sendall(QUESTION)
        while upstream.recv(256):
            pass


def wait_around(request, client):
    for stage in take_nap, take_lock, hold_lock, ask_upstream:
        start = time.monotonic_ns()
        stage(client)
        tell(start, f"{request}.{stage.__name__}")
    time.sleep(REST_SECONDS)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        _, cpu_us, request, *action = self.path.split("/")
        burn(request, int(cpu_us))
        if action == ["wait"]:
            wait_around(request, self.client_address[0])
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        burn("-", AFTERWARDS_US)

    def log_message(self, *_):
        """Nothing: the truth file tells it all."""


def background():
    while True:
        burn("-", BACKGROUND_US)
        time.sleep(PAUSE_SECONDS)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


threading.Thread(target=background, daemon=True).start()
Server(("", int(sys.argv[1])), Handler).serve_forever()
