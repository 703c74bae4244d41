# SPDX-License-Identifier: Apache-2.0
"""What a process runs is found out before it gets its first request."""
import contextlib
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import cases
from agent import Agent
from cases import case, equal, need_program
from following import WANTED, kind_of, known_as, node_map
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
CROWD, STILL = 300, 100  # programs that listen at the same time, and how many still wait when others are followed
TURN_MAX = 0.05  # seconds
METRICS = "127.0.0.1:9464"
# These say that they are there, and listen when they are told to.
PYTHON_AT_WORD = """
import asyncio, socket, sys
print(flush=True)
sys.stdin.readline()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sys.stdin.readline()
"""
NODE_AT_WORD = """
process.stdin.once('data', () => require('net').createServer().listen(+process.argv[1], '127.0.0.1'))
console.log()
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
def agent_without(host, objects, how="FAIL_LOAD"):
    """An agent that cannot load the BPF object of this name, or not soon (tests/net/fail_load.c)."""
    broken = {"LD_PRELOAD": f"{cases.BUILD}/net_fail_load.so", how: objects}
    os.environ.update(broken)
    try:
        agent = Agent(host, cases.BUILD)
    finally:
        for name in broken:
            del os.environ[name]
    yield agent


# These come first: their agents have to be the only ones on the node.
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


@case
def while_others_load():
    """While the probes of one runtime are loaded, which takes long, programs of others are looked at"""
    with Lab("net") as lab:
        host = lab.host("app")
        with agent_without(host, "python_probes", "STALL_LOAD"), python(host) as slow:
            with listening(host, [need_program("node"), "-e", NODE_SERVER, "--"], PORT + 1) as other:
                equal(known_as(other.pid), NODE, "kind of Node")
                equal(kind_of(slow.pid), WANTED, "kind of Python meanwhile")
            equal(known_as(slow.pid), PYTHON, "kind of Python in the end")


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


def waiting():
    """How many processes wait to be looked at."""
    with node_map("runtimes") as runtimes:
        values = [runtimes.get(key) for key in runtimes.keys()]
    return sum(struct.unpack_from("I", value)[0] == WANTED for value in values if value)


def tell(process):
    process.stdin.write("\n")
    process.stdin.flush()


def at_word(host, argv, **kw):
    """A program that has begun, and goes on when it is told to."""
    process = host.spawn(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **kw)
    process.stdout.readline()
    return process


def longest_turn(host):
    """Of the daemon's loop, in seconds."""
    with host.inside(), urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=10) as answer:
        said = re.search(r"(?m)^ctxprop_loop_longest_turn_seconds (\S+)$", answer.read().decode())
    return float(said[1])


def known_before(process, what):
    """It is found out what the process runs, while most of the crowd wait."""
    kind, left = known_as(process.pid), waiting()
    print(f"# {left} wait when {what} is known")
    equal(left >= STILL, True, f"{what} does not wait for the crowd, of which {left} wait still")
    return kind


@case
def in_a_crowd():
    """When hundreds of programs begin to listen, one that was met before is followed first, and so is who comes last"""
    with Lab("net") as lab, tempfile.TemporaryDirectory() as folder:
        host = lab.host("app")
        Agent(host, cases.BUILD, "--http", METRICS)
        with node(host) as met:
            equal(known_as(met.pid), NODE, "kind of Node")
        new = Path(shutil.copy(os.path.realpath("/usr/bin/python3"), folder))  # of a file that nobody has seen
        again = at_word(host, [need_program("node"), "-e", NODE_AT_WORD, "--", PORT])
        last = at_word(host, [new, "-c", PYTHON_AT_WORD, PORT + 1], env={**os.environ, "PYTHONHOME": "/usr"})
        crowd = at_word(host, [f"{cases.BUILD}/net_crowd", folder, CROWD, CROWD])
        tell(crowd)
        wait_until(lambda: waiting() > CROWD / 2, "the crowd listens")
        tell(again)
        equal(known_before(again, "Node"), NODE, "kind of Node in the crowd")
        tell(last)
        equal(known_before(last, "Python"), PYTHON, "kind of Python in the crowd")
        wait_until(lambda: not waiting(), "all of the crowd are looked at")
        turn = longest_turn(host)
        equal(0 < turn < TURN_MAX, True, f"the daemon's loop was held up for {turn} s at most")
