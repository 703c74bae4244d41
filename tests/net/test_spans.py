# SPDX-License-Identifier: Apache-2.0
"""Single spans, as the store has them: what was asked, by whom, and how it ended."""
import contextlib
import json
import os
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path

import cases
from cases import case, equal, need_program
from waiting import wait_until
from worlds import common, pair

PORT = 8071
SERVER, CLIENT = 2, 3
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
NS = 10**9
# A server of its own process, so that its sockets are not the client's.
FORKING = """
import os, socket
listener = socket.create_server(("", int(os.environ["PORT"])))
while True:
    connection, _ = listener.accept()
    if os.fork() == 0:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
        os._exit(0)
    connection.close()
    while os.waitpid(-1, 0)[0] <= 0:
        pass
"""
# It hands on what it got, as nginx does.
PROXY = """
import socket, sys
listener = socket.create_server(("", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    with connection, socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as upstream:
        upstream.sendall(connection.recv(65536))
        connection.sendall(upstream.recv(65536))
"""
SLOW = """
import socket, sys, time
listener = socket.create_server(("", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    with connection:
        if connection.recv(65536):
            time.sleep(float(sys.argv[2]))
            try:
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
                connection.recv(1)
            except OSError:
                pass
"""


class Stored:
    """A Pair with a store."""

    def __init__(self, world, folder):
        self.world, self.path = world, Path(folder) / "spans.db"

    def spans(self, path, kind):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(
                "SELECT spans.*, name FROM spans JOIN services ON services.id = service_id WHERE path = ? AND kind = ? "
                "ORDER BY start_ns", (path, kind))]

    def wait_spans(self, path, kind, count=1):
        wait_until(lambda: len(self.spans(path, kind)) >= count, lambda: f"{self.spans(path, kind)} of {path}")
        return self.spans(path, kind)

    def slow_server(self, port, seconds):
        self.world.app.spawn([sys.executable, "-c", SLOW, str(port), str(seconds)])
        self.world.app.wait_port(port)


@cases.shared
def stored():
    @contextlib.contextmanager
    def made():
        with tempfile.TemporaryDirectory(prefix="ctxprop-spans-") as folder, \
                pair("--store", f"{folder}/spans.db") as world:
            yield Stored(world, folder)
    return made()


@contextlib.contextmanager
def answering(host, port):
    """A server in a host that answers each request at once; what it has read is gathered."""
    heads, over = [], threading.Event()
    with host.inside():
        listener = socket.create_server(("", port))

    def serve():
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection:
                while data := connection.recv(65536):
                    heads.append(data)
                    connection.sendall(OK)
    listener.settimeout(0.1)
    thread = threading.Thread(target=serve)
    thread.start()
    yield heads
    over.set()
    thread.join()
    listener.close()


def ask(host, address, port, *requests):
    """Requests one after the other, on one connection."""
    with host.inside():
        client = socket.create_connection((address, port), timeout=10)
    with client:
        for request in requests:
            client.sendall(request)
            equal(client.recv(4096), OK, "the answer")


@case
def sizes_are_the_programs():
    """Between programs of one host `request_bytes` is what the client wrote, at both ends, with a header and without."""
    here = stored()
    request = b"POST /sizes HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
    with answering(here.world.app, PORT) as heads:
        ask(here.world.app, here.world.APP, PORT, request, request)
    equal([b"traceparent: " in head for head in heads], [True, True], "a header each")
    for kind in (CLIENT, SERVER):
        equal([span["request_bytes"] for span in here.wait_spans("/sizes", kind, 2)], [len(request)] * 2, f"kind {kind}")


@case
def methods():
    """Any token is a method, as it was written, at both ends; and those calls are followed and have headers."""
    here = stored()
    words = ("GET", "get", "Patch", "R2D2", "X_Y", "M-SEARCH", "p!#$%&'*+-.^_`|", "VERSION-CONTROL")
    with answering(here.world.app, PORT) as heads:
        for number, word in enumerate(words):
            ask(here.world.app, here.world.APP, PORT, f"{word} /method/{number}/x HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    equal([b"traceparent: " in head for head in heads], [True] * len(words), "a header each")
    for number, word in enumerate(words):
        for kind in (CLIENT, SERVER):
            equal(here.wait_spans(f"/method/{number}/x", kind)[0]["method"], word, f"kind {kind}")


@case
def methods_of_older_connections():
    """The same on a connection that is older than the agent: it is joined at requests of any method."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-spans-") as folder, pair(agent=False) as world:
        world.options = ("--store", f"{folder}/spans.db")
        here = Stored(world, folder)
        with answering(world.app, PORT) as heads, world.app.inside():
            client = socket.create_connection((world.APP, PORT), timeout=10)
            request = b"r2d2 /older HTTP/1.1\r\nHost: h\r\n\r\n"
            with client:
                client.sendall(request)
                equal(client.recv(4096), OK, "before")
                world.start_agent()
                for _ in range(4):
                    client.sendall(request)
                    equal(client.recv(4096), OK, "after")
            equal(b"traceparent: " in heads[-1], True, f"a header in {heads}")
        for kind in (CLIENT, SERVER):
            equal(here.wait_spans("/older", kind)[0]["method"], "r2d2", f"kind {kind}")


@case
def programs_that_are_gone():
    """Clients and children that end at once have a service all the same: their name."""
    need_program("curl")
    here = stored()
    here.world.app.spawn([sys.executable, "-c", FORKING], env={**os.environ, "PORT": str(PORT + 1)})
    here.world.app.wait_port(PORT + 1)
    for _ in range(20):
        here.world.app.run(["curl", "-s", "-o", "/dev/null", f"http://{here.world.APP}:{PORT + 1}/gone"])
    equal([span["name"] for span in here.wait_spans("/gone", CLIENT, 20)], ["curl"] * 20, "who called")
    names = [span["name"] for span in here.wait_spans("/gone", SERVER, 20)]
    equal({name.rstrip("0123456789.") for name in names}, {"python"}, f"who served: {names}")


@case
def given_up():
    """A call whose client closes its socket is over then, and the server's span says that nobody waits for it."""
    here = stored()
    here.slow_server(PORT + 2, 1.5)
    done = here.world.app.run(["curl", "-s", "-m", "0.4", f"http://{here.world.APP}:{PORT + 2}/given-up"], check=False)
    equal(done.returncode, 28, "curl's time is over")
    call, = here.wait_spans("/given-up", CLIENT)
    served, = here.wait_spans("/given-up", SERVER)
    equal((call["outcome"], call["status"], call["error"]), ("given-up", None, 1), "the call")
    equal(0.3 * NS < call["duration_ns"] < 1.2 * NS, True, f"the call lasts {call['duration_ns']} ns")
    equal((served["outcome"], served["status"], served["error"]), ("client-closed", 200, 0), "what was served")
    equal(1.4 * NS < served["duration_ns"], True, f"it is served for {served['duration_ns']} ns")


@case
def handed_on():
    """A proxy hands on the traceparent that it got: the map has one edge for its call, as the trace's tree has."""
    here = stored()
    environment = {**os.environ, "OTEL_SERVICE_NAME": "shop"}
    here.world.app.spawn([sys.executable, "-c", SLOW, str(PORT + 5), "0.01"], env=environment)
    here.world.app.spawn([sys.executable, "-c", PROXY, str(PORT + 6), str(PORT + 5)],
                         env={**environment, "OTEL_SERVICE_NAME": "front"})
    for port in (PORT + 5, PORT + 6):
        here.world.app.wait_port(port)
    field = f"traceparent: 00-{'4b' * 16}-{'6f' * 8}-01"
    ask(here.world.peer, here.world.APP, PORT + 6, f"GET /on HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n".encode())
    here.wait_spans("/on", SERVER, 2)
    here.wait_spans("/on", CLIENT, 1)
    edges = json.loads(here.world.agent.command("map", "-j", "--store", here.path))
    equal(sorted((edge["caller"], edge["callee"], edge["count"]) for edge in edges if {"shop", "front"} & set(edge.values())),
          [(here.world.PEER, "front", 1), ("front", "shop", 1)], "the edges")


@case
def half_closed():
    """Who shuts down one side of its socket waits for the answer: that call is not given up."""
    here = stored()
    here.slow_server(PORT + 3, 0.7)
    with here.world.app.inside():
        client = socket.create_connection((here.world.APP, PORT + 3), timeout=10)
    with client:
        client.sendall(b"GET /half HTTP/1.1\r\nHost: h\r\n\r\n")
        client.shutdown(socket.SHUT_WR)
        begun = time.monotonic()
        equal(client.recv(4096), OK, "the answer")
        equal(time.monotonic() - begun > 0.5, True, "it has taken its time")
    call, = here.wait_spans("/half", CLIENT)
    equal((call["outcome"], call["status"]), ("answered", 200), "the call")
    served, = here.wait_spans("/half", SERVER)
    equal((served["outcome"], served["status"]), ("client-closed", 200), "what was served")


@case
def killed():
    """A client that is killed has given up, too."""
    here = stored()
    here.slow_server(PORT + 4, 1.5)
    client = here.world.app.spawn(["curl", "-s", f"http://{here.world.APP}:{PORT + 4}/killed"])
    time.sleep(0.4)
    client.kill()
    client.wait()
    call, = here.wait_spans("/killed", CLIENT)
    equal((call["outcome"], call["duration_ns"] < NS), ("given-up", True), "the call")


@case
def other_clocks():
    """In a time namespace with other clocks than the kernel's nothing is started, and it says why."""
    app = common().app
    for clock in ("--boottime", "--monotonic"):
        done = app.run(["unshare", "--time", clock, "9000000", f"{cases.BUILD}/ctxpropd", "--config", "none", "--store", "none"],
                       check=False)
        equal((done.returncode, "this time namespace has clocks of its own" in done.stderr), (1, True), done.stderr)
    profile = app.run(["unshare", "--time", "--boottime", "9000000", f"{cases.BUILD}/ctxprop", "profile", "-d", "1"],
                      check=False)
    equal((profile.returncode, "this time namespace has clocks of its own" in profile.stderr), (1, True), profile.stderr)
