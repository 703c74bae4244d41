# SPDX-License-Identifier: Apache-2.0
"""`ctxprop who`: who is at work in a process, on which request, and by which evidence."""
import contextlib
import itertools
import json
import os
import socket
import subprocess
import tempfile
from collections import namedtuple

import cases
import following
from agent import Agent
from cases import Skip, case, equal, need_program
from lab import Lab
from receivers import PROGRAMS, PYTHON, folder
from waiting import wait_until

ADDRESS, PORT = "10.95.0.2", 8080
LEARNS = 24  # requests until it is known what the program's tasks do
HELD = 300   # seconds that requests stay open: longer than a case takes
BURN_US = 5_000_000  # of CPU: longer than it takes to ask four times
ANSWER_SECONDS = 80

# A line: who it is, the ids (None: none), by what they are known or why they are not, whether it waits
Row = namedtuple("Row", "tid task trace evidence veto state")


class World:
    """A server and its client, in two namespaces; the agent beside the server."""

    def __init__(self, lab):
        self.client, self.server = lab.host("client"), lab.host("server")
        lab.link(self.client, self.server, "10.95.0.1/24", f"{ADDRESS}/24")
        self.agent = Agent(self.server, cases.BUILD)
        self.process, self.sockets = None, []

    def ask(self, path):
        """Send a request on a new connection; returns its trace id and the connection."""
        trace = os.urandom(16).hex()
        with self.client.inside():
            connection = socket.create_connection((ADDRESS, PORT), timeout=ANSWER_SECONDS)
        self.sockets.append(connection)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: who\r\n"
                           f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
        return trace, connection

    def learn(self):
        """Requests that are answered at once, one after the other."""
        for _ in range(LEARNS):
            _, connection = self.ask("/sleep/0")
            connection.recv(4096)
            connection.close()

    def who(self, *words):
        """Rows of the server's process."""
        listed = self.server.run([f"{cases.BUILD}/ctxprop", "who", "--json", *words], check=False)
        return [Row(row["tid"], row["task"], row["trace_id"], row["evidence"], row["veto"],
                    row["state"])
                for row in json.loads(listed.stdout) if row["pid"] == self.process.pid]

    def at_work(self):
        return [row for row in self.who(str(self.process.pid)) if row.trace]

    def shows(self, traces):
        """Wait until these traces are shown, and no others; returns {trace: [row, ...]}."""
        wait_until(lambda: {row.trace for row in self.at_work()} == set(traces),
                   lambda: f"expected {sorted(traces)}, there is {self.who(str(self.process.pid))}")
        rows = self.at_work()
        return {trace: [row for row in rows if row.trace == trace] for trace in traces}


@cases.shared
@contextlib.contextmanager
def common():
    with Lab("who") as lab:
        yield World(lab)


@contextlib.contextmanager
def serving(argv, *behind, **kw):
    """The shared World with this server, of which is known what it runs."""
    world = common()
    world.process = world.server.spawn([*argv, PORT, *behind], **kw)
    try:
        world.server.wait_port(PORT)
        following.known_as(world.process.pid)
        yield world
    finally:
        for connection in world.sockets:
            connection.close()
        world.sockets.clear()
        world.process.kill()
        world.process.wait()


@contextlib.contextmanager
def aiohttp():
    """The world with a server on asyncio, and what that tells: {trace: context}."""
    if subprocess.run([PYTHON, "-c", "import aiohttp"], check=False, capture_output=True).returncode:
        raise Skip("Python has no aiohttp")
    with tempfile.NamedTemporaryFile("w+", prefix="ctxprop-who-") as said:
        def contexts():
            with open(said.name, encoding="ascii") as lines:
                told = [line.split() for line in lines]
            return {parent.split("-")[1]: context for parent, context in told}

        with serving([PYTHON, "-B", PROGRAMS / "hold_aiohttp.py"], stdout=said) as world:
            world.learn()
            yield world, contexts


@contextlib.contextmanager
def golang():
    with folder() as path:
        subprocess.run([need_program("go"), "build", "-o", path / "hold", PROGRAMS / "hold.go"],
                       check=True, env={**os.environ, "GO111MODULE": "off"})
        with serving([path / "hold"]) as world:
            world.learn()
            yield world


def told(rows, task, trace):
    """The row of a task, which has this trace, and no other; returns it."""
    found = [row for row in itertools.chain(*rows.values()) if row.task == task]
    equal([row.trace for row in found], [trace], f"what {task} works on")
    return found[0]


@case
def tasks():
    """asyncio: each task with its own request, those that wait and the one that its thread is at"""
    with aiohttp() as (world, contexts):
        waiting = [world.ask(f"/sleep/{HELD}")[0] for _ in range(4)]
        rows = world.shows(waiting)
        for trace in waiting:
            told(rows, f"task {contexts()[trace]}", trace)
        equal({(row.tid, row.evidence, row.veto, row.state) for row in itertools.chain(*rows.values())},
              {(None, "by-task", None, "waits")}, "how they are known")
        burning = world.ask(f"/burn/{HELD}")[0]
        rows = world.shows([*waiting, burning])
        row = told(rows, f"task {contexts()[burning]}", burning)
        equal((row.tid, row.evidence, row.veto), (world.process.pid, "by-task", None),
              "the task that its thread is at")
        equal([row.trace for row in world.who(f"{world.process.pid}/{world.process.pid}")],
              [burning], "what the thread is at")


@case(slow=True)
def tasks_end():
    """asyncio: a request that is answered is shown no more, and a process that is gone neither"""
    with aiohttp() as (world, _):
        first, connection = world.ask("/sleep/15")
        second, _ = world.ask(f"/sleep/{HELD}")
        world.shows([first, second])
        connection.recv(4096)
        world.shows([second])
        world.process.kill()
        world.process.wait()
        equal(world.who(), [], "of a process that is gone")


@case
def goroutines():
    """Go: each goroutine with its own request, the one that runs with its thread"""
    with golang() as world:
        waiting = [world.ask(f"/sleep/{HELD}")[0] for _ in range(4)]
        burning = world.ask(f"/burn/{HELD}")[0]
        rows = {trace: row for trace, (row,) in world.shows([*waiting, burning]).items()}
        equal({row.evidence for row in rows.values()}, {"by-goroutine"}, "evidence")
        equal(len({row.task for row in rows.values()}), 5, "goroutines")
        equal({(rows[trace].tid, rows[trace].state) for trace in waiting}, {(None, "waits")},
              "those that sleep")
        equal(bool(rows[burning].tid), True, "the one that runs has a thread")


@case(slow=True)
def threads():
    """Threads: those that burn or sleep for a request, by its text; and the others' none"""
    with serving([f"{cases.BUILD}/profile_burn"], "/dev/null") as world:
        pid = str(world.process.pid)
        trace, connection = world.ask(f"/{BURN_US}/walk")
        row, = world.shows([trace])[trace]
        equal((row.task, row.evidence, row.veto), (None, "by-thread", None), "the thread")
        listed = world.server.run([f"{cases.BUILD}/ctxprop", "who"]).stdout
        line = next(line for line in listed.splitlines() if trace in line).split()
        equal((line[0], line[2], line[4]), (f"{pid}/{row.tid}", trace, "by-thread"), "its line")
        equal([row.trace for row in world.who(f"{pid}/{row.tid}")], [trace], "the thread alone")
        equal(len(world.who(pid)) > 1, True, "there are other threads")
        connection.recv(4096)
        world.shows([])
        ended = world.server.run([f"{cases.BUILD}/ctxprop", "who", pid], check=False)
        equal(ended.returncode, 1, "exit status when it works on nothing")
        equal({line.split()[2] for line in ended.stdout.splitlines()}, {"none"}, "what it says")
