# SPDX-License-Identifier: Apache-2.0
"""The thread context map: an entry while a thread works on a request, and none left behind."""
import concurrent.futures
import contextlib
import os
import signal
import socket
import struct
import subprocess
import threading

import bpf_map
import cases
import following
from agent import Agent
from cases import case, equal
from lab import BPFFS, Lab, own_pins, sh
from recorder import Recorder
from waiting import wait_until

PIN = "/sys/fs/bpf/otel/traces_ctx_v1"
ADDRESS, PORT = "10.93.0.2", 8080
WORK_US = 600_000  # of a request in whose midst something happens
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class World:
    """A server that burns CPU in one thread per connection, its client, the agent."""

    def __init__(self, lab):
        self.client, self.server = lab.host("client"), lab.host("server")
        lab.link(self.client, self.server, "10.93.0.1/24", f"{ADDRESS}/24")
        self.agent = Agent(self.server, cases.BUILD)
        self.burner, self.sockets = None, []

    def start_server(self):
        self.burner = self.server.spawn([f"{cases.BUILD}/profile_burn", PORT, "/dev/null"])
        self.server.wait_port(PORT)
        following.known_as(self.burner.pid)

    def stop_server(self):
        for connection in self.sockets:
            connection.close()
        self.burner.kill()
        self.burner.wait()

    def connect(self):
        with self.client.inside():
            self.sockets.append(socket.create_connection((ADDRESS, PORT), timeout=20))
        return self.sockets[-1]

    def entries(self):
        """{thread: (trace id, span id)} of the server."""
        return bpf_map.entries_of(PIN, self.burner.pid)

    def begin(self, work_us=WORK_US, action=""):
        """Send a request on a new connection; returns it when its thread has its entry."""
        connection = self.connect()
        trace = ask(connection, work_us, action)
        wait_for(lambda: trace in self.traces(), f"an entry with {trace}", self.entries)
        return connection

    def traces(self):
        return [trace for trace, _ in self.entries().values()]

    def empty(self, what):
        """No entry of the server is there, or soon none."""
        wait_for(lambda: not self.entries(), f"{what}: no entry", self.entries)


def wait_for(holds, what, show):
    wait_until(holds, lambda: f"no {what}; there is {show()}")


def ask(connection, work_us, action=""):
    """Send a request; returns its trace id."""
    trace = os.urandom(16).hex()
    connection.sendall(f"GET /{work_us}/walk{action} HTTP/1.1\r\nHost: burn\r\n"
                       f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
    return trace


def answered(connection):
    got = b""
    while len(got) < len(ANSWER):
        more = connection.recv(len(ANSWER))
        if not more:
            break
        got += more
    equal(got, ANSWER, "answer")


@cases.shared
@contextlib.contextmanager
def common():
    with Lab("contexts") as lab:
        yield World(lab)


@contextlib.contextmanager
def serving():
    """The shared World, with a server of the case's own and the agent running."""
    world = common()
    if world.agent.process.poll() is not None:
        world.agent.start()
    world.start_server()
    try:
        yield world
    finally:
        world.stop_server()


@case
def kept_alive():
    """A connection that idles behind its requests has no entry"""
    with serving() as world:
        connection = world.begin()
        answered(connection)
        for _ in range(20):
            ask(connection, 1000)
            answered(connection)
        # At once: whoever has the answer may look.
        equal(world.entries(), {}, "entries behind the answer")


@case(slow=True)
def many_at_once():
    """Twelve requests at a time have twelve entries, then none"""
    with serving() as world:
        connections = [world.connect() for _ in range(12)]
        traces = [ask(connection, WORK_US) for connection in connections]
        wait_for(lambda: sorted(world.traces()) == sorted(traces), "twelve entries", world.entries)
        equal(len({span for _, span in world.entries().values()}), 12, "spans")
        for connection in connections:
            answered(connection)
        world.empty("all are answered")


@case
def closed_by_the_client():
    """The client closes behind the answer"""
    with serving() as world:
        connection = world.begin()
        answered(connection)
        connection.close()
        world.empty("connection closed")


@case
def aborted_by_the_client():
    """The client is gone in the midst of the work, by FIN and by RST"""
    with serving() as world:
        world.begin().close()
        reset = world.begin()
        reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        reset.close()
        world.empty("clients gone")


@case
def server_killed():
    """kill -9 of the server in the midst of its work"""
    with serving() as world:
        for _ in range(4):
            world.begin()
        world.burner.kill()
        world.burner.wait()
        world.empty("server killed")


@case
def thread_ends():
    """The thread ends without an answer, the connection stays open"""
    with serving() as world:
        world.begin(action="/exit")
        world.empty("thread ended")


@case
def program_becomes_another():
    """exec in the midst of a request, the connection stays open"""
    with serving() as world:
        world.begin(action="/exec")
        world.begin()
        world.empty("exec")
        with open(f"/proc/{world.burner.pid}/comm") as comm:
            equal(comm.read(), "sleep\n", "program")


@case
def daemon_killed():
    """kill -9 of the daemon: entries still come and go"""
    with serving() as world:
        before = world.begin()
        world.agent.stop(signal.SIGKILL)
        answered(before)
        world.empty("answered without a daemon")
        answered(world.begin())
        world.empty("begun without a daemon")


@case(slow=True)
def daemon_restarted():
    """The daemon is killed and started again in the midst of a request"""
    with serving() as world:
        before = world.begin(work_us=3_000_000)
        world.agent.stop(signal.SIGKILL)
        world.agent.start()
        answered(before)
        world.empty("answered by the new daemon's programs")
        answered(world.begin())
        world.empty("begun behind the restart")


@case
def daemon_stopped():
    """The daemon is stopped in the midst of a request, and again when there is none"""
    with serving() as world:
        before = world.begin()
        world.agent.stop()
        answered(before)
        world.empty("answered behind the stop")
        after = world.connect()
        ask(after, 1000)
        answered(after)
        world.empty("asked behind the stop")


@case
def detached():
    """All is detached in the midst of a request: nobody is left to clean up, so it is clean"""
    with serving() as world:
        world.begin(work_us=3_000_000)
        world.agent.stop()
        world.agent.command("detach", "--force")
        world.empty("detached")


def shape(path):
    with bpf_map.Map(path) as pinned:
        return pinned.id, pinned.type, pinned.key_size, pinned.value_size, pinned.max_entries


@contextlib.contextmanager
def empty_bpffs():
    """For cases that must be the first ones to pin something."""
    own_pins()
    sh("mount", "-t", "bpf", "bpf", BPFFS)
    try:
        os.makedirs(os.path.dirname(PIN))
        yield
    finally:
        sh("umount", BPFFS)


@contextlib.contextmanager
def somebody_elses(*wanted):
    """A pin of another shape is in the place of the map, while a World of its own runs."""
    with empty_bpffs(), bpf_map.Pinned(*wanted, path=PIN), bpf_map.Map(PIN) as pinned:
        pinned.set(b"\7" * pinned.key_size, b"\5" * pinned.value_size)
        before = shape(PIN)
        with Lab("pin") as lab:
            yield World(lab)
        equal(shape(PIN), before, "the pin")
        equal([(key, pinned.get(key)) for key in pinned.keys()],
              [(b"\7" * pinned.key_size, b"\5" * pinned.value_size)], "what is in it")


def injects(world):
    """A request out of the agent's host still gets its header."""
    recorder = Recorder(world.client, "10.93.0.1")
    with world.server.inside():
        out = socket.create_connection((recorder.address, recorder.port), timeout=10)
    with out:
        out.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        while out.recv(4096):
            pass
    recorder.close()
    equal([len(request.traceparents) for request in recorder.requests], [1], "headers")


def call(out, fields=""):
    """One request over a connection to a Recorder, and its answer."""
    out.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n".encode())
    got = b""
    while not got.endswith(b"}\n"):
        got += out.recv(4096)


def serve_with_a_trace_of_its_own(world, listener, upstream, trace):
    """Serves one request with two calls, the first with a traceparent; the entry in between."""
    with world.server.inside():
        connection, out = listener.accept()[0], socket.create_connection(upstream, timeout=10)
    with connection, out:
        connection.recv(4096)
        call(out, f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n")
        entries = bpf_map.entries_of(PIN, os.getpid())
        call(out)
        connection.sendall(ANSWER)
    return entries.get((os.getpid(), threading.get_native_id()), (None,))[0]


@case(slow=True)
def sampled_where_it_comes_in():
    """What comes without a trace begins one: `dir in` says whether it is sampled, its calls follow"""
    with serving() as world, contextlib.ExitStack() as stack:
        recorder = stack.enter_context(contextlib.closing(Recorder(world.client, "10.93.0.1")))
        with world.server.inside():
            listener = stack.enter_context(socket.create_server((ADDRESS, 0)))
        following.known_as(os.getpid())
        for ratio, flags in (("0", "02"), ("1", "03")):
            world.agent.command("policy", "flush")
            world.agent.command("policy", "add", "dir", "in", "action", "accept", "sample", ratio)
            with world.client.inside(), socket.create_connection(listener.getsockname()) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: own\r\n\r\n")
                with world.server.inside():
                    connection = listener.accept()[0]
                    out = socket.create_connection((recorder.address, recorder.port), timeout=10)
                with connection, out:
                    connection.recv(4096)
                    call(out)
                    connection.sendall(ANSWER)
                answered(client)
            equal(recorder.requests[-1].traceparents[0].split("-")[3], flags, f"sample {ratio}")
        world.agent.command("policy", "flush")


@case
def own_trace():
    """Nothing came with a request, and its program begins a trace: that is the one"""
    with serving() as world, contextlib.ExitStack() as stack:
        recorder = stack.enter_context(contextlib.closing(Recorder(world.client, "10.93.0.1")))
        with world.server.inside():
            listener = stack.enter_context(socket.create_server((ADDRESS, 0)))
        following.known_as(os.getpid())
        with world.client.inside():
            client = stack.enter_context(socket.create_connection(listener.getsockname()))
        client.sendall(b"GET / HTTP/1.1\r\nHost: own\r\n\r\n")
        trace, upstream = os.urandom(16).hex(), (recorder.address, recorder.port)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            shown = pool.submit(serve_with_a_trace_of_its_own, world, listener, upstream,
                                trace).result()
        answered(client)
        equal(shown, trace, "trace of the thread's entry")
        equal([r.traceparents[0].split("-")[1] for r in recorder.requests], [trace] * 2, "traces")
        equal(bpf_map.entries_of(PIN, os.getpid()), {}, "entries")


@case(slow=True)
def pin_of_another_shape():
    """Somebody else's pin of another shape: a clear message, the pin untouched, the rest works"""
    for wanted in (("hash", 8, 24, 16384), ("lru_hash", 8, 32, 16384), ("lru_hash", 4, 24, 16384),
                   ("lru_hash", 8, 24, 1024)):
        with somebody_elses(*wanted) as world:
            said = [line for line in world.agent.said().splitlines() if PIN in line]
            if not said:
                raise AssertionError(f"no word about {PIN}:\n{world.agent.said()}")
            injects(world)
            equal(world.agent.process.poll(), None, "the daemon's end")


@case(slow=True)
def pin_of_the_same_shape():
    """Somebody else's pin of the published shape is shared, and stays when the agent goes"""
    with empty_bpffs(), bpf_map.Pinned("lru_hash", 8, 24, 16384, path=PIN):
        before = shape(PIN)
        with Lab("pin") as lab:
            world = World(lab)
            with bpf_map.Map(PIN) as pinned:
                foreign = os.urandom(8)
                pinned.set(foreign, b"\5" * 24)
                world.start_server()
                try:
                    answered(world.begin())
                    world.empty("answered")
                finally:
                    world.stop_server()
                equal(pinned.get(foreign), b"\5" * 24, "another writer's entry")
        equal(shape(PIN), before, "the pin")


def ended_thread():
    """The number of a thread of this process that is over."""
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    wait_for(lambda: not os.path.exists(f"/proc/self/task/{thread.native_id}"), "its end", str)
    return thread.native_id


BY_ADDRESS = ("goroutines", "round_trips", "messages", "starts", "tasks", "queued")
BY_REQUEST = ("tracestates", "adopted")
OPEN, OVER = 0xfffe << 48 | 1, 0xfffe << 48 | 3  # two requests of one place
NUMBER, REQUEST, WORKER = struct.Struct("I"), struct.Struct("Q"), struct.Struct("IIQ")


def keys_of_the_node(process, thread):
    """[(map, key of what is there, key of what is gone)]; a process and a thread are gone."""
    here = os.getpid()
    rows = [(name, WORKER.pack(here, 0, 0xabc), WORKER.pack(process, 0, 0xabc))
            for name in (*BY_ADDRESS, "workers")]
    rows += [("workers", WORKER.pack(here, here, 0), WORKER.pack(here, thread, 0)),
             ("runtimes", NUMBER.pack(here), NUMBER.pack(process))]
    return rows + [(name, REQUEST.pack(OPEN), REQUEST.pack(OVER)) for name in BY_REQUEST]


@case
def whatever_is_gone():
    """What the probes missed of processes, threads and requests is removed, and nothing else"""
    gone, here, thread = subprocess.Popen(["true"]), os.getpid(), ended_thread()
    gone.wait()
    span = REQUEST.pack(OVER)
    with Lab("swept") as lab, contextlib.ExitStack() as stack:
        Agent(lab.host("node"), cases.BUILD, "--gc-interval", "1")

        def opened(name):
            return stack.enter_context(following.node_map(name))
        requests, traces = opened("requests"), stack.enter_context(bpf_map.Map(PIN))
        requests.set(NUMBER.pack(OPEN >> 48), REQUEST.pack(OPEN).ljust(requests.value_size, b"\0"))
        # Shown: by us, for a thread that is over; by somebody else, for another one.
        ours, others = REQUEST.pack(here << 32 | thread), REQUEST.pack(gone.pid << 32 | 7)
        traces.set(ours, bytes(16) + span)
        traces.set(others, b"\5" * 24)
        rows = [(opened(name), there, over) for name, there, over in
                keys_of_the_node(gone.pid, thread)]
        for table, *keys in rows:
            for key in keys:
                table.set(key, span * (table.value_size // 8) + bytes(table.value_size % 8))

        def seen():
            return [(there in table.keys(), over in table.keys()) for table, there, over in rows]
        wait_for(lambda: seen() == [(True, False)] * len(rows), "an end of what is over", seen)
        equal((traces.get(ours), traces.get(others)), (None, b"\5" * 24), "what profilers see")


@case
def processes_that_are_gone():
    """What the probes missed of a process that is gone is removed; a living one keeps its entries."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    with Lab("swept") as lab:
        host = lab.host("node")
        Agent(host, cases.BUILD, "--gc-interval", "1")
        with following.node_map("processes") as processes, \
                following.node_map("workers") as workers:
            for pid in (gone.pid, os.getpid()):
                processes.set(struct.pack("I", pid), bytes(processes.value_size))
                workers.set(struct.pack("IIQ", pid, pid, 0), bytes(workers.value_size))

            def kept():
                return [[pid for pid in (gone.pid, os.getpid())
                         if any(struct.unpack_from("I", key)[0] == pid for key in table.keys())]
                        for table in (processes, workers)]
            wait_for(lambda: kept() == [[os.getpid()]] * 2, "entries of the living one", kept)
