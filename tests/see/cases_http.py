# SPDX-License-Identifier: Apache-2.0
"""Whom the server answers, and how."""
import contextlib
import socket
import time

import demo
from waiting import wait_until
from world import NAME, PORT, equal

PATHS = ("/", "/style.css", "/parts.js", "/script.js", "/metrics", "/healthz", "/api/v1/traces", "/nowhere")
GOOD_HOSTS = ("localhost", f"localhost:{PORT}", "LocalHost", NAME, f"{NAME}:1", "127.0.0.1:80",
              f"{demo.APP_FRONT}:{PORT}", "[::1]", f"[::1]:{PORT}")
BAD_HOSTS = ("evil.example", f"evil.example:{PORT}", f"{NAME}.evil.example", "localhost.evil.example",
             "127.0.0.1.evil.example", "evil127.0.0.1", "[evil]", "", f"x{NAME}", "127.1")


HARMLESS = ("/healthz", "/readyz", "/metrics")
SOON_S = 1
VISITORS, IDLE_S = 64, 20  # that stay; after so long nobody does who does not ask

TAKEN = "[http-failed]"


def case_hosts(world):
    """names that are nobody's get no answer: no page of a stranger reads this by DNS rebinding"""
    for host in GOOD_HOSTS:
        equal(world.ask("/metrics", host=host)[0], 200, f"Host: {host}")
    for host in BAD_HOSTS:
        for path in PATHS:
            status, _, body = world.ask(path, Host=host)
            equal((status, b"ctxprop_" in body), (421, False), f"{path}, Host: {host!r}")


def case_methods(world):
    """only GET and HEAD are answered"""
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"):
        for path in PATHS:
            status, headers, _ = world.ask(path, method)
            equal((status, headers["Allow"]), (405, "GET, HEAD"), f"{method} {path}")
    for path in PATHS:
        status, headers, body = world.ask(path, "HEAD")
        equal((status, body), (404 if path == "/nowhere" else 200, b""), f"HEAD {path}")
        assert int(headers["Content-Length"]) > 0, headers


def case_fields(world):
    """every answer forbids what a page of strangers' texts has to be kept from"""
    for path in PATHS:
        _, headers, _ = world.ask(path)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';"), policy
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy, policy
        equal(headers["X-Content-Type-Options"], "nosniff", path)
        equal(headers["Cache-Control"], "no-store", path)
        equal(headers["Access-Control-Allow-Origin"], None, path)


def case_health(world):
    """/healthz and /readyz say that it works"""
    for path in ("/healthz", "/readyz"):
        equal(world.ask(path)[::2], (200, b"ok\n"), path)


class Crowd:
    """Connections that keep the server waiting: a byte from time to time, or nothing is read."""

    def __init__(self, world, count, begin):
        with world.client.inside():
            self.sockets = [socket.create_connection((demo.APP_FRONT, PORT), timeout=20)
                            for _ in range(count)]
        for one in self.sockets:
            one.setblocking(False)
            self.try_send(one, begin)

    @staticmethod
    def try_send(one, data):
        with contextlib.suppress(OSError):
            one.send(data)

    def drip(self):
        for one in self.sockets:
            self.try_send(one, b"x")

    def here(self):
        """How many the server has not ended; what it has answered is read."""
        return sum(self.is_open(one) for one in self.sockets)

    @staticmethod
    def is_open(one):
        try:
            while one.recv(65536):
                pass
            return False
        except BlockingIOError:
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.sockets:
            one.close()


def answered(world, seconds, crowd):
    """For so long who asks is answered at once, whatever the crowd does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for path in HARMLESS:
            begin = time.monotonic()
            equal(world.ask(path)[0], 200, path)
            took = time.monotonic() - begin
            assert took < SOON_S, f"{path} took {took:.1f} s"
        crowd.drip()
        time.sleep(0.3)


def case_slow_heads(world):
    """who sends a byte now and then is not waited for, and keeps nobody else waiting"""
    begun = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
    for begin in (begun, b"", begun[:-3] + b"Content-Length: 1000000\r\n\r\n",
                  b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT"):
        with Crowd(world, 200, begin) as crowd:
            answered(world, 3, crowd)
            assert crowd.here() <= VISITORS, crowd.here()
            end = time.monotonic() + IDLE_S
            while crowd.here() and time.monotonic() < end:
                crowd.drip()
                time.sleep(0.3)
            equal(crowd.here(), 0, f"that are there still: {begin}")


def case_unread_answers(world):
    """who asks for much and reads nothing keeps nobody else waiting"""
    ask = b"GET /script.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60
    for begin in (ask, ask.replace(b"script.js", b"api/v1/traces?limit=500")):
        with Crowd(world, 100, begin) as crowd:
            answered(world, 4, crowd)


def case_taken(world):
    """an address that another program has: a warning, and all else works"""
    world.agent.stop()
    with world.app.inside(), socket.create_server((demo.APP_FRONT, PORT)):
        world.agent.start()
        wait_until(lambda: TAKEN in world.agent.said(), lambda: world.agent.said(), 20)
    before = world.agent.stats()["injected"]
    world.send(b"/after")
    assert world.agent.stats()["injected"] > before
    equal(world.agent.stop(), 0, "exit status")
