# SPDX-License-Identifier: Apache-2.0
"""Threads and processes that get the id of one that is over, while its request is open: their calls are not for that."""
import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from cases import Skip, case, equal
from following import known_as, open_requests
from test_shares import upstream
from waiting import wait_until
from worlds import Pair, common

PROGRAMS = Path(__file__).parent / "programs"
PORT = 8660
OPEN = 2  # requests: with one alone, a call of its process may be for it whoever makes it
LAST_PID = "/proc/sys/kernel/ns_last_pid"


class Program:
    """reused.py, which may be started by way of other words."""

    def __init__(self, stack, port, *before):
        self.process = common().app.spawn([*before, sys.executable, "-B", PROGRAMS / "reused.py", Pair.APP, port,
                                           upstream().port, Pair.PEER],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.end)
        self.says = self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Server(Program):
    """The same with requests that its threads have taken, and have left open."""

    def __init__(self, stack):
        super().__init__(stack, PORT)
        equal(self.says, "listening", "the server says")
        known_as(self.process.pid)
        upstream().clear()
        self.traces, self.connections = [os.urandom(16).hex() for _ in range(OPEN)], []
        for trace in self.traces:
            with common().peer.inside():
                self.connections.append(stack.enter_context(socket.create_connection((Pair.APP, PORT), timeout=20)))
            self.connections[-1].sendall(f"GET /open HTTP/1.1\r\nHost: app\r\n"
                                         f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
        self.threads = [int(tid) for tid in self.tell(f"threads {OPEN}").split()]
        equal(len(self.threads), OPEN, "threads that have taken requests")


def call_as_threads(program, server):
    """Threads of a program that have the ids of those that took the server's requests call, not for these."""
    for tid in server.threads:
        if program.tell(f"call {tid}") != "called":
            raise Skip("others take the number each time")
    wait_until(lambda: len(upstream().requests) == OPEN, "the calls go out")
    found = [r.traceparents[0].split("-")[1] for r in upstream().requests]
    equal([trace for trace in found if trace in server.traces], [], f"calls with a trace of open requests, of {found}")
    equal({trace for trace in server.traces if trace in open_traces()}, set(server.traces), "requests that are open")


def open_traces():
    return {request.trace_id for request in open_requests(common().app).values()}


def need_numbers():
    if not os.access(LAST_PID, os.W_OK):
        raise Skip(f"{LAST_PID} cannot be written")


@case
def thread():
    """A thread gets the id of one that has taken a request and is over, in the same process"""
    need_numbers()
    with contextlib.ExitStack() as stack:
        server = Server(stack)
        call_as_threads(server, server)


@case
def process():
    """A program and its threads get the numbers of one that is over, whose child keeps its requests open"""
    need_numbers()
    with contextlib.ExitStack() as stack:
        server = Server(stack)
        stack.callback(os.kill, int(server.tell("leave")), signal.SIGKILL)
        server.process.kill()
        server.process.wait()
        again = Program(stack, PORT + 1, sys.executable, "-B", PROGRAMS / "as_process.py", server.process.pid)
        if again.says != "listening":
            raise Skip("others have the number")
        call_as_threads(again, server)
