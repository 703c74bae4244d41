# SPDX-License-Identifier: Apache-2.0
"""What a process runs is found out before it gets its first request."""
import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import cases
from agent import Agent
from cases import case, equal, need_program
from following import kind_of, known_as
from lab import BPFFS, Lab, sh
from logged import logged
from waiting import wait_until

PORT = 8080
PYTHON, NODE = 5, 8  # enum runtime_kind
PYTHON_SERVER = """
import asyncio, os, signal, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for line in sys.stdin:
    child = os.fork()
    if not child:
        signal.pause()
    print(child, flush=True)
"""
NODE_SERVER = "require('net').createServer().listen(+process.argv[1], '127.0.0.1')"


@contextlib.contextmanager
def listening(host, argv, port=PORT):
    """A server that has begun to listen, and gets no request."""
    process = host.spawn([*argv, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        host.wait_port(port)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # and what it has forked
        process.wait()


def python(host):
    return listening(host, ["/usr/bin/python3", "-c", PYTHON_SERVER])


def node(host):
    return listening(host, [need_program("node"), "-e", NODE_SERVER, "--"])


@contextlib.contextmanager
def agent_without(host, objects):
    """An agent that cannot load the BPF object of this name."""
    broken = {"LD_PRELOAD": f"{cases.BUILD}/net_fail_load.so", "FAIL_LOAD": objects}
    os.environ.update(broken)
    try:
        agent = Agent(host, cases.BUILD)
    finally:
        for name in broken:
            del os.environ[name]
    yield agent


# These two come first: their agents have to be the only ones on the node.
@case(slow=True)
def without_python():
    """If the probes of one runtime cannot be loaded, that is said once, and the others work"""
    with Lab("net") as lab:
        host = lab.host("app")
        with agent_without(host, "python_probes") as agent:
            with python(host) as server:
                equal(known_as(server.pid), PYTHON, "kind of Python")
            with node(host) as server:
                equal(known_as(server.pid), NODE, "kind of Node")
            said = agent.said()
        lacks = logged(said, "runtime-failed")
        equal([" Python" in line for line in lacks], [True], f"runtimes that are not followed: {said}")
        equal(len(logged(said, "process-followed", "Node")), 1, f"Node is followed: {said}")


@case(slow=True)
def was_there():
    """A process that listened before the agent came is looked at when it comes"""
    with Lab("net") as lab:
        host = lab.host("app")
        with python(host) as server:
            agent = Agent(host, cases.BUILD)
            equal(known_as(server.pid), PYTHON, f"kind, after: {agent.said()}")


@cases.shared
def common():
    """A host with an agent."""
    return host_with_agent()


@contextlib.contextmanager
def host_with_agent():
    with Lab("net") as lab:
        host = lab.host("app")
        host.agent = Agent(host, cases.BUILD)
        yield host


@case(slow=True)
def listens():
    """A process is looked at when it begins to listen"""
    host = common()
    with python(host) as server:
        equal(known_as(server.pid), PYTHON, "kind")


@contextlib.contextmanager
def python_of_an_image(host, port):
    """The same server, out of /usr as a container sees it that has it from an image."""
    with tempfile.TemporaryDirectory() as folder:
        seen, empty = Path(folder, "usr"), Path(folder, "empty")
        seen.mkdir()
        empty.mkdir()
        sh("mount", "-t", "overlay", "-o", f"lowerdir=/usr:{empty}", "overlay", seen)
        try:
            with listening(host, [seen / "bin/python3", "-c", PYTHON_SERVER], port) as server:
                yield server
        finally:
            sh("umount", "--lazy", seen)


def uprobes(agent, process):
    """Those that are there when a process is followed."""
    wait_until(lambda: f"process {process.pid} (" in agent.said(), "it is followed")
    return {path.name for path in Path(BPFFS).glob("ctxprop/node/v*/uprobes/*")}


@case(slow=True)
def of_one_image():
    """Containers of one image have the same files: one uprobe at each place is for all of them"""
    host = common()
    with python_of_an_image(host, PORT) as one:
        first = uprobes(host.agent, one)
        equal(len(first) > 0, True, "there are some")
        with python_of_an_image(host, PORT + 1) as other:
            equal(uprobes(host.agent, other), first, "the same as for the first one")


@case(slow=True)
def is_forked():
    """A process that another one has made runs the same from the beginning"""
    host = common()
    with python(host) as server:
        equal(known_as(server.pid), PYTHON, "kind of the maker")
        server.stdin.write("\n")
        server.stdin.flush()
        equal(kind_of(int(server.stdout.readline())), PYTHON, "kind")
