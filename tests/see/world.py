# SPDX-License-Identifier: Apache-2.0
"""The demo's client, app and server outside, an agent that answers by HTTP, and traffic that is
known to the last request."""
import http.client
import json
import socket

import demo
from recorder import Recorder
from waiting import wait_until

PORT = 9464
NAME = "traces.example"  # by which the server may be asked for, too
MANY = 20
SCRIPT = "/<script>alert(1)</script>"
# Bytes that are no UTF-8, and such that formats have to escape.
RAW = b'/raw\xff\xfe"\\\xc3\xa9'
PATHS = ["/hello"] * 3 + ["/many"] * MANY + [SCRIPT, "/users/1", "/users/2", "/users/3"]
SPANS_OF_ONE = 5  # of a request: nginx and its call, the service and its two calls


class World(demo.Scene):
    """The scene after its traffic has passed; `ask` asks the agent's server, from the client."""

    def __init__(self, lab, build, folder):
        super().__init__(lab, build, folder, "--http", f"{demo.APP_FRONT}:{PORT}", "--http-host",
                         NAME)
        self.lab, self.url = lab, f"http://{demo.APP_FRONT}:{PORT}"
        self.warm_up()
        self.any = Recorder(self.app, demo.APP_FRONT)  # nginx and the service want better paths
        self.requests = len(PATHS)
        self.send(RAW, self.any.port)
        for path in PATHS:
            self.send(path.encode())
        wait_until(lambda: self.traces() >= self.requests, self.incomplete)

    def warm_up(self):
        """Until the programs are known, so that calls belong to what they were made for; what was
        sent for that is on no count."""
        def is_known():
            self.send(b"/warm")
            last = self.agent.command("trace", "--store", self.store, "-j", "-n", "1")
            return json.loads(last) and len(json.loads(last)[0]["spans"]) == SPANS_OF_ONE

        wait_until(is_known, "a trace of all its spans")

    def told(self):
        """The traces of the traffic that are stored by now."""
        told = json.loads(self.agent.command("trace", "--store", self.store, "-j", "-n", "1000"))
        return [trace["spans"] for trace in told if trace["spans"][0]["path"] != "/warm"]

    def traces(self):
        """How many of them have all their spans."""
        return sum(len(spans) == SPANS_OF_ONE for spans in self.told())

    def incomplete(self):
        """What to say when some never get all their spans."""
        spans = [[(span["service"], span["kind"], span["path"], span.get("veto")) for span in spans]
                 for spans in self.told() if len(spans) != SPANS_OF_ONE]
        return f"{self.requests} traces of {SPANS_OF_ONE} spans; not so: {spans}"

    def send(self, target, port=8080):
        """One request of the client, to nginx if not to another one, with these bytes as target."""
        with self.client.inside():
            connection = socket.create_connection((demo.APP_FRONT, port), timeout=20)
        with connection:
            connection.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: shop.example\r\n"
                               b"Connection: close\r\n\r\n")
            answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]

    def ask(self, path, method="GET", host=None, **fields):
        """(status, fields, body) of an answer by the agent's server."""
        with self.client.inside():
            connection = http.client.HTTPConnection(demo.APP_FRONT, PORT, timeout=20)
            connection.connect()
        connection.request(method, path, headers={**({"Host": host} if host else {}),
                                                  **{k.replace("_", "-"): v for k, v in fields.items()}})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def api(self, path):
        """A document of the API."""
        status, headers, body = self.ask("/api/v1/" + path)
        assert (status, headers["Content-Type"]) == (200, "application/json"), (path, status, body)
        return json.loads(body)


def equal(got, wanted, what):
    assert got == wanted, f"{what}: {got!r}, should be {wanted!r}"
