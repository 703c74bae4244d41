# SPDX-License-Identifier: Apache-2.0
"""One program fills tables of the node: its neighbours are followed as before, and it is said."""
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cases
from cases import case, equal, need_program
from far import OK
from following import known_as, node_map
from http1 import Reader, read_head
from recorder import Recorder, Request
from waiting import NotInTime, wait_until
from worlds import Pair, common, counted

PROGRAMS = Path(__file__).parent / "programs"
APPS = Path(__file__).parents[1] / "accuracy" / "apps"
ASKED = 20
RIGHT = 19       # of these, at least
SOON = 1.5  # seconds: one, and what a busy machine takes
SHARE, KEPT = 4096, 1024  # PROCESS_WORKERS, PROCESS_WORKERS_KEPT (engine/worker.h)
LISTENERS = 4096          # CTXPROP_LISTENERS_MAX
CGROUP_SHARE = 2048       # CGROUP_PROCESSES (engine/share.h)
CHILDREN = 4500
NOBODY = 65534
FIRST_NO_PROCESS = 1 << 23  # no process has such a number


class Upstream(Recorder):
    """Answers as the programs of the accuracy matrix want it."""

    def serve_requests(self, client):
        reader = Reader(client.recv)
        while True:
            self.keep(Request(read_head(reader), b""))
            client.sendall(OK)


@cases.shared
@contextlib.contextmanager
def upstream():
    made = Upstream(common().peer, Pair.PEER)
    yield made
    made.close()


def table(name):
    """A map of the node, whose agent runs."""
    common()
    return node_map(name)


@contextlib.contextmanager
def serving(port, *argv):
    """A server in `app` whose calls go to upstream(); gives its process."""
    env = {**os.environ, "UPSTREAM": f"{Pair.PEER}:{upstream().port}"}
    process = common().app.spawn(argv, env=env)
    try:
        common().app.wait_port(port)
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def threads(port):
    """An honest server in C, a thread per connection, of which is known what it runs."""
    with serving(port, f"{cases.BUILD}/accuracy_threads", f"{Pair.APP}:{port}") as process:
        known_as(process.pid)
        yield process


def asyncio(port):
    """An honest one in Python, a task per connection."""
    return serving(port, sys.executable, "-B", APPS / "python/streams.py", Pair.APP, str(port))


def ask(port, count=ASKED):
    """Ask the server so many times. Returns how many of its calls had the request's trace, and how
    many another request's."""
    upstream().clear()
    traces = {f"t{i}": os.urandom(16).hex() for i in range(count)}
    with common().peer.inside():
        for truth, trace in traces.items():
            with socket.create_connection((Pair.APP, port), timeout=20) as s:
                s.sendall(f"GET /0/0/0/1/s HTTP/1.1\r\nHost: app\r\nx-truth: {truth}\r\n"
                          f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
                equal(s.recv(12), b"HTTP/1.1 200", "answer")
    called = [(r.head.get("x-truth"), r.traceparents[0].split("-")[1])
              for r in upstream().requests]
    equal(len(called), count, "calls")
    right = sum(traces[truth] == trace for truth, trace in called)
    return right, sum(trace in traces.values() for _, trace in called) - right


def followed(port, what):
    """The server's calls are right, by and large, and none is wrong."""
    right, wrong = ask(port)
    equal(wrong, 0, f"{what}: wrong calls")
    if right < RIGHT:
        raise NotInTime(f"{what}: {right} of {ASKED} calls are right, none wrong")


def said(pattern):
    """The agent has said, or says soon, something that this matches."""
    wait_until(lambda: re.search(pattern, common().agent.said()),
               lambda: f"nothing said of {pattern}:\n{common().agent.said()[-2000:]}")


def entries(name, tgid):
    """How many entries a map of the node has that belong to a process."""
    with table(name) as found:
        return sum(int.from_bytes(key[:4], "little") == tgid for key in found.keys())


def gone_soon(what, count):
    """Nothing is left, or soon nothing."""
    wait_until(lambda: not count(), lambda: f"{what}: {count()} are left", SOON)


class Liar:
    """A program in Go, of no rights, that forges which goroutine is at work."""

    def __init__(self, port):
        self.folder = tempfile.TemporaryDirectory(prefix="ctxprop-liar-")
        os.chmod(self.folder.name, 0o755)
        built = Path(self.folder.name, "liar")
        subprocess.run([need_program("go"), "build", "-o", built, "."], check=True,
                       cwd=PROGRAMS / "liar", env={**os.environ, "GO111MODULE": "off"})
        self.process = common().app.spawn(
            ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", built, port],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "GODEBUG": "asyncpreemptoff=1"})

    def __enter__(self):
        said(rf"process {self.process.pid} .*following goroutines")
        return self

    def tell(self, order, count):
        """Have it serve so many of its own requests, and wait until it has."""
        self.process.stdin.write(f"{order} {count}\n")
        self.process.stdin.flush()
        equal(self.process.stdout.readline(), "done\n", "the liar's answer")

    def workers(self):
        return entries("workers", self.process.pid)

    def end(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        self.end()
        self.folder.cleanup()


@case
def forged_goroutines():
    """72,000 requests of as many forged goroutines, and a server with a thread per connection"""
    with Liar(8601) as liar, threads(8602):
        liar.tell("many", 72_000)
        followed(8602, "beside the liar")
        if liar.workers() > KEPT + 64:
            raise AssertionError(f"the liar has {liar.workers()} workers")
        liar.end()
        gone_soon("workers of the liar", liar.workers)
        followed(8602, "behind the liar")


@case
def held_goroutines():
    """The same with requests that stay open: the share is reached, which is counted and said"""
    with Liar(8603) as liar, threads(8604):
        liar.tell("hold", SHARE + 500)
        equal(liar.workers(), SHARE, "workers of the liar")
        followed(8604, "beside the liar")
        said(rf"process {liar.process.pid} .*has reached its share")
        findings = json.loads(common().agent.command("doctor", "--json", check=False))
        told = [f["text"] for f in findings if f["what"] == "share"]
        if not any(str(liar.process.pid) in text for text in told):
            raise AssertionError(f"doctor says of shares: {told}")
        liar.end()
        gone_soon("workers of the liar", liar.workers)
        gone_soon("what is said of its share", lambda: entries("shares_reached", liar.process.pid))


FORKS = f"""
import os, socket, sys, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for _ in range({CHILDREN}):
    if not os.fork():
        time.sleep(600)
print("done", flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def children(port):
    """A program that listens and has many children, which do nothing; gives all their numbers."""
    process = common().app.spawn([sys.executable, "-S", "-E", "-c", FORKS, str(port)],
                                 stdout=subprocess.PIPE, text=True)
    try:
        equal(process.stdout.readline(), "done\n", "the listener's answer")
        path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        yield {process.pid, *map(int, path.read_text().split())}
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def known(name, numbers):
    with table(name) as found:
        return sum(int.from_bytes(key, "little") in numbers for key in found.keys())


@case
def idle_children():
    """A listener with more idle children than are looked at in advance"""
    with children(8605) as numbers:
        equal(len(numbers), CHILDREN + 1, "processes")
        if known("runtimes", numbers) > LISTENERS:
            raise AssertionError(f"{known('runtimes', numbers)} idle processes have entries")
        with asyncio(8606) as server:
            ask(8606, 1)
            said(rf"process {server.pid} .*following tasks")
            followed(8606, "beside the children")
    gone_soon("children", lambda: known("runtimes", numbers))
    gone_soon("children", lambda: known("listeners", numbers))


@contextlib.contextmanager
def full(name):
    """A map of the node has room for no other process. (No sweep may be due, which would make some.)"""
    time.sleep(2 * SOON)
    with table(name) as filled:
        value, made = bytes(filled.value_size), []
        try:
            for number in range(FIRST_NO_PROCESS, FIRST_NO_PROCESS + filled.max_entries):
                filled.set(struct.pack("I", number), value)
                made.append(number)
        except OSError:
            pass  # it is full
        yield
        for number in made:
            filled.delete(struct.pack("I", number))


@case
def no_room_for_runtimes():
    """What a program runs cannot be noted: none of its calls has a request's trace; later all have"""
    with contextlib.ExitStack() as stack:
        with full("runtimes"):
            server = stack.enter_context(asyncio(8607))
            with counted(common().agent, veto_runtime_unknown=ASKED):
                equal(ask(8607), (0, 0), "calls that are right, and wrong")
            said("a table of the node was full")
        ask(8607, 1)
        said(rf"process {server.pid} .*following tasks")
        followed(8607, "as soon as there is room")


@contextlib.contextmanager
def cgroup():
    """A cgroup of the case's own: its folder."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    root = next((Path(where) for _, where, kind, *_ in mounts if kind == "cgroup2"), None)
    if not root:
        raise cases.Skip("no cgroups of version 2 are mounted")
    folder = root / f"ctxprop-shares-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        folder.rmdir()


@case
def crowded_cgroup():
    """A cgroup has its share of the table of processes: no other one of it is followed, others are"""
    with cgroup() as folder, table("cgroup_processes") as shares:
        key = struct.pack("Q", folder.stat().st_ino)
        shares.set(key, struct.pack("II", CGROUP_SHARE, 0))
        into = f"echo $$ >{folder}/cgroup.procs && exec \"$@\""
        with serving(8610, "sh", "-c", into, "sh", f"{cases.BUILD}/accuracy_threads",
                     f"{Pair.APP}:8610") as server, threads(8611):
            equal(ask(8610), (0, 0), "calls that are right, and wrong, in the cgroup")
            followed(8611, "beside it")
            said(rf"process {server.pid} .*has reached its share")
            shares.set(key, struct.pack("II", CGROUP_SHARE - 1, 0))
            followed(8610, "as soon as there is room")
        wait_until(lambda: shares.get(key) == struct.pack("II", CGROUP_SHARE - 1, 0),
                   lambda: f"the cgroup has {shares.get(key)}", SOON)
        shares.delete(key)


@case
def addresses_go_with_their_process():
    """What the maps have of a process by addresses is gone a second after it"""
    by_address = ["objects", "v8_shapes", "ruby_threads", "ruby_queues", "purposes", "works",
                  "queued", "arguments", "messages", "round_trips", "java_held", "java_begun"]
    by_worker = ["python_taken", "tasks", "streams", "goroutines"]
    with threads(8608) as server:
        followed(8608, "to begin with")
        key = struct.pack("IIQ", server.pid, 0, 4096)
        for name in by_address + by_worker:
            with table(name) as found:
                found.set(key, bytes(found.value_size))
        with table("go_sockets") as sockets:
            sockets.set(struct.pack("Q", 4096), struct.pack("IIQ", server.pid, 0, 4096))
    for name in by_address + by_worker:
        gone_soon(name, lambda name=name: entries(name, server.pid))
    with table("go_sockets") as sockets:
        gone_soon("go_sockets", lambda: sockets.get(struct.pack("Q", 4096)))


@case
def rules_go_with_their_process():
    """So is what the program was seen to keep to, at once"""
    with threads(8609) as server:
        followed(8609, "to begin with")
        with table("starts") as starts:
            for rule in range(1, 7):  # enum task_rule
                starts.set(struct.pack("IIQ", server.pid, 0, rule), struct.pack("II", 99, 0))
    equal(entries("starts", server.pid), 0, "rules that are left")
