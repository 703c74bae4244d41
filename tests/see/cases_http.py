# SPDX-License-Identifier: Apache-2.0
"""Whom the server answers, and how."""
import socket

import demo
from waiting import wait_until
from world import NAME, PORT, equal

PATHS = ("/", "/style.css", "/parts.js", "/script.js", "/metrics", "/healthz", "/api/v1/traces", "/nowhere")
GOOD_HOSTS = ("localhost", f"localhost:{PORT}", "LocalHost", NAME, f"{NAME}:1", "127.0.0.1:80",
              f"{demo.APP_FRONT}:{PORT}", "[::1]", f"[::1]:{PORT}")
BAD_HOSTS = ("evil.example", f"evil.example:{PORT}", f"{NAME}.evil.example", "localhost.evil.example",
             "127.0.0.1.evil.example", "evil127.0.0.1", "[evil]", "", f"x{NAME}", "127.1")


TAKEN = "warning: no metrics and no page by HTTP: another program has that address"


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
