# SPDX-License-Identifier: Apache-2.0
"""What another process is asked for over a unix socket, whose hooks are attached when needed.

The case itself is the server, byte by byte; other agents' programs may need the hooks, too.
"""
import contextlib
import os
import platform
import signal
import socket
import tempfile

import bpf_map
import cases
from agent import Agent
from cases import Skip, case, equal
from far import OK, Client, Far
from following import known_as
from lab import Lab
from waiting import wait_until

PIN = "/sys/fs/bpf/otel/traces_ctx_v1"
ADDRESS = "10.96.0.2"
SECONDS = 60  # a guest that is emulated is slow


@cases.shared
@contextlib.contextmanager
def world():
    if tuple(map(int, platform.release().split(".")[:2])) < (6, 3):
        raise Skip("this kernel does not tell who reads from unix sockets")
    with Lab("unix") as lab:
        far, here = lab.host("far"), lab.host("here")
        lab.link(far, here, "10.96.0.1/24", f"{ADDRESS}/24")
        yield Far(far), here, lab.host("away")


@contextlib.contextmanager
def agent_of(host):
    """An agent that nothing has happened to yet."""
    agent = Agent(host, cases.BUILD)
    try:
        yield agent
    finally:
        agent.remove()


def waits(agent):
    """Are the hooks not attached?"""
    return "ready, not needed" in agent.command("doctor", check=False)


class Other:
    """Another process that listens at a unix socket: it reads a byte, and says so; answers when it
    is told to."""

    def __init__(self, name=""):
        """Of no name is one made up, and can be reached from this network namespace only."""
        self.control, its = socket.socketpair()
        self.control.settimeout(SECONDS)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(name)
            listener.listen()
            self.name = listener.getsockname()
            self.pid = os.fork()
            if not self.pid:
                self.control.close()
                self.serve(listener, its)
        its.close()

    @staticmethod
    def serve(listener, control):
        try:
            stream, _ = listener.accept()
            while control.send(stream.recv(1)) and control.recv(1):
                stream.send(b"a")
        finally:
            os._exit(0)

    def shown(self):
        """The traces of what its threads work on."""
        return [ids[0] for ids in bpf_map.entries_of(PIN, self.pid).values()]

    def close(self):
        self.control.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def asked(client, stream, other):
    """(a request's trace id, those that the other process works on when it is asked for it)."""
    trace = client.ask()
    client.socket.recv(4096)
    stream.send(b"q")
    other.control.recv(1)
    shown = other.shown()
    other.control.send(b"g")
    stream.recv(1)
    client.socket.sendall(OK)
    client.got(OK)
    equal(other.shown(), [], "what the other process works on when all is answered")
    return trace, shown


def need_waiting(agent):
    if not waits(agent):
        raise Skip("other programs of this machine have had the hooks attached")


@case(seconds=180)
def listens_first():
    """Where somebody listens before a program begins to serve, its first request is followed"""
    far, here, _ = world()
    with agent_of(here) as agent, here.inside(), contextlib.closing(Other()) as other, \
            socket.socket(socket.AF_UNIX) as stream:
        need_waiting(agent)
        with socket.create_server((ADDRESS, 0)) as listener:
            wait_until(lambda: not waits(agent), "the hooks")
            known_as(os.getpid())
            with contextlib.closing(Client(far, listener, ADDRESS)) as client:
                stream.connect(other.name)
                trace, shown = asked(client, stream, other)
                equal(shown, [trace], "what the other process works on")


@case(seconds=180, slow=True)
def listens_later():
    """Where a program serves already, somebody who begins to listen is found, too"""
    _, here, _ = world()
    with agent_of(here) as agent, here.inside(), socket.create_server((ADDRESS, 0)):
        need_waiting(agent)
        with contextlib.closing(Other()):
            wait_until(lambda: not waits(agent), "the hooks")


@case(seconds=180, slow=True)
def elsewhere():
    """Whoever connects to a socket of another network namespace is followed a moment later"""
    far, here, away = world()
    with agent_of(here) as agent, tempfile.TemporaryDirectory() as folder, \
            away.inside(), contextlib.closing(Other(f"{folder}/s")) as other, \
            here.inside(), socket.create_server((ADDRESS, 0)) as listener, \
            contextlib.closing(Client(far, listener, ADDRESS)) as client:
        need_waiting(agent)
        client.ask()
        client.socket.recv(4096)
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(other.name)
            wait_until(lambda: not waits(agent), "the hooks")
            known_as(os.getpid())
            client.socket.sendall(OK)
            client.got(OK)
            trace, shown = asked(client, stream, other)
            equal(shown, [trace], "what the other process works on")
