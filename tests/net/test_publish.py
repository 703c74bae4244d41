# SPDX-License-Identifier: Apache-2.0
"""What changes hands on threads is published while programs of others read traces_ctx_v1."""
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from collections import Counter

import bpf_map
import cases
import following
from agent import Agent
from cases import case, equal
from lab import Lab
from tried import Skip
from waiting import wait_until

PIN = "/sys/fs/bpf/otel/traces_ctx_v1"
ADDRESS, PORT, METRICS = "10.96.0.2", 8080, "127.0.0.1:9464"
GO = f"{cases.BUILD}/profile_burn_go"
WORK_US, REQUESTS = 300_000, 3
MOMENTS, PROBES = "[publishing-samples]", "[publishing-switches]"
ON, OFF = "[publishing-", "[publish-ended]"
LOOK_SECONDS = 4  # until another reader would have been seen
LINGER_SECONDS = 30  # from the last look that has seen a reader


class World:
    """A server in Go, its client, and an agent with options."""

    def __init__(self, lab, *options):
        if not os.path.exists(GO):
            raise Skip("profile_burn_go is not there: was Go missing at build time?")
        self.asked, self.read = set(), set()  # traces
        self.client, self.server = lab.host("client"), lab.host("server")
        lab.link(self.client, self.server, "10.96.0.1/24", f"{ADDRESS}/24")
        self.agent = Agent(self.server, cases.BUILD, "--http", METRICS, *options)
        self.burner = self.server.spawn([GO, PORT, "/dev/null"])
        self.server.wait_port(PORT)
        self.ask()
        following.known_as(self.burner.pid)

    def ask(self):
        """A request, and whether its thread has had an entry meanwhile."""
        with self.client.inside():
            connection = socket.create_connection((ADDRESS, PORT), timeout=20)
        with contextlib.closing(connection):
            trace = os.urandom(16).hex()
            self.asked.add(trace)
            connection.sendall(f"GET /{WORK_US}/walk HTTP/1.1\r\nHost: burn\r\n"
                               f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
            connection.settimeout(0.01)
            seen = False
            while True:
                seen |= trace in (entry[0] for entry in bpf_map.entries_of(PIN, self.burner.pid).values())
                with contextlib.suppress(TimeoutError):
                    if connection.recv(4096).endswith(b"ok"):
                        return seen

    def shown(self):
        """Of some requests, how many have had an entry."""
        return sum(self.ask() for _ in range(REQUESTS))

    def said(self, text):
        return sum(text in line for line in self.agent.said().splitlines())

    def state(self):
        """(what doctor says is published, the metric)."""
        found = json.loads(self.agent.command("doctor", "--json", check=False))
        text = next(row["text"] for row in found if row["what"] == "published")
        page = self.server.run(["curl", "-s", f"http://{METRICS}/metrics"]).stdout
        value = next(line.split()[1] for line in page.splitlines()
                     if line.startswith("ctxprop_contexts_published "))
        return text.split(" work on")[0].removesuffix(" goroutines, tasks and greenlets"), value

    @contextlib.contextmanager
    def reader(self, when="97"):
        """A profiler of others, which looks up threads in the map. What it has read of requests asked meanwhile is in `read` then."""
        with tempfile.TemporaryFile("w+") as said:
            sampler = subprocess.Popen([f"{cases.BUILD}/profile_sampler", PIN, when], stdin=subprocess.PIPE, stdout=said)
            self.asked.clear()
            try:
                yield
            finally:
                sampler.communicate(timeout=20)
            said.seek(0)
            self.read = self.asked & {line.split()[3] for line in said if line.count(" ") == 5}

    def profile(self):
        """A profile of ours, from its begin to its end."""
        self.server.run([f"{cases.BUILD}/ctxprop", "profile", "--off-cpu", "-d", "5s", "--store", "none",
                         "-o", "/dev/null", "--format", "folded"])

    def wait_said(self, text, count, seconds=20):
        wait_until(lambda: self.said(text) == count,
                   lambda: f"not {count} times \"{text}\":\n{self.agent.said()}", seconds)


NOT_SHOWN, SHOWN = ("not what", "0"), ("what", "1")


@case(seconds=180, slow=True)
def read_and_not_read():
    """Who looks at switches of threads switches it on, his end off again, the next one on; a profile of ours does not"""
    with Lab("publish") as lab:
        world = World(lab)
        equal((world.shown(), world.state()), (0, NOT_SHOWN), "shown while nobody reads")
        world.profile()
        equal((world.said(ON), world.shown()), (0, 0), "readers, shown behind a profile of ours")
        with world.reader("switches"):
            world.wait_said(PROBES, 1)
            wait_until(world.ask, "nothing is shown to a reader")
            equal((world.shown(), world.state()), (REQUESTS, SHOWN), "shown while somebody reads")
        world.wait_said(OFF, 1, LINGER_SECONDS + 20)
        equal((world.shown(), world.state()), (0, NOT_SHOWN), "shown when nobody reads any more")
        equal(bpf_map.entries_of(PIN, world.burner.pid), {}, "entries left")
        with world.reader("switches"):
            world.wait_said(PROBES, 2)
            wait_until(world.ask, "nothing is shown to the next reader")
        told = Counter(line[line.index("process "):] for line in world.agent.said().splitlines()
                       if f"process {world.burner.pid} " in line)
        assert set(told.values()) == {1}, f"a line on the server twice, or none in\n{world.agent.said()}"


@case(slow=True)
def sampled():
    """Who samples is shown all requests, at his samples only, and without probes"""
    with Lab("publish") as lab:
        world = World(lab)
        with world.reader():
            world.wait_said(MOMENTS, 1)
            world.asked.clear()
            world.shown()
            asked = set(world.asked)
            time.sleep(LOOK_SECONDS)
            equal((world.state(), world.said(ON), world.said(PROBES)), (SHOWN, 1, 0), "published")
        equal(world.read, asked, "requests that were read")
        equal(bpf_map.entries_of(PIN, world.burner.pid), {}, "entries left")


@case(slow=True)
def always():
    """With --publish always nobody is looked for"""
    with Lab("publish") as lab:
        world = World(lab, "--publish", "always")
        equal((world.shown(), world.state(), world.said(ON)), (REQUESTS, SHOWN, 0), "shown")


@case(slow=True)
def never():
    """With --publish never, here by the name of the option before 1.0, readers are shown nothing"""
    with Lab("publish") as lab:
        world = World(lab, "--publish-goroutines", "never")
        with world.reader():
            world.profile()
            equal((world.shown(), world.state(), world.said(ON)), (0, NOT_SHOWN, 0), "shown")
