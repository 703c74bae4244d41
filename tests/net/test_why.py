# SPDX-License-Identifier: Apache-2.0
"""`ctxprop flows -x`: why the last call of a live connection belongs to its trace, or to a new one."""
import contextlib
import json
import os
import select
import socket

from cases import case, equal
from far import Far
from following import known_as
from test_record import GET, OK, in_thread
from worlds import common

CALL = b"GET /called HTTP/1.1\r\nHost: upstream\r\n\r\n"


@contextlib.contextmanager
def requests(count):
    """So many connections to this process, a request sent on each: (far end, their number there, our
    socket)."""
    with common().app.inside(), socket.create_server((common().APP, 0)) as listener:
        known_as(os.getpid())
        far = Far(common().peer)
        made = []
        for _ in range(count):
            number = far.call("connect", common().APP, listener.getsockname()[1])
            ours, _ = listener.accept()
            ours.settimeout(10)
            made.append((far, number, ours))
            far.call("send", number, GET.decode())
        yield made
        for _, _, ours in made:
            ours.close()
        far.process.kill()
        far.process.wait()


@contextlib.contextmanager
def upstream():
    """Where the calls go: a server in the other namespace."""
    with common().peer.inside():
        listener = socket.create_server((common().PEER, 0))
    with listener:
        yield listener


def call(listener):
    """Begin a call on a new connection, which has arrived at the upstream; our end of it."""
    with common().app.inside():
        ours = socket.create_connection(listener.getsockname(), timeout=10)
    ours.sendall(CALL)
    theirs, _ = listener.accept()
    with theirs:
        theirs.settimeout(10)
        equal(b"\r\ntraceparent: " in theirs.recv(4096), True, "the call has a header")
    return ours


def ports_of(sock):
    return sock.getsockname()[1], sock.getpeername()[1]


def why(ports):
    """What JSON says of the connection with these ports."""
    rows = json.loads(common().agent.command("flows", "--json", "--explain"))
    return next(row["why"] for row in rows if (row["sport"], row["dport"]) == ports)


def lines(ports):
    """The lines of text behind that of this connection: [[word, ...]]."""
    said = common().agent.command("flows", "-x").splitlines()
    at = next(i for i, line in enumerate(said) if f":{ports[0]} " in line and line.rstrip().endswith(f":{ports[1]}"))
    behind = []
    for line in said[at + 1:]:
        if not line.startswith("    "):
            break
        behind.append(line.split())
    return behind


@case
def call_of_a_thread():
    """A thread has read a request, and calls: it is named by the thread, nothing is against it."""
    with upstream() as listener, requests(1) as [(far, number, ours)]:
        made = []

        def serve():
            equal(ours.recv(4096), GET, "request")
            made.append(call(listener))

        thread, stay = in_thread(serve)
        with made[0]:
            got = why(ports_of(made[0]))
            equal((got["evidence"]["name"], got["veto"]), ("by-thread", None), "the decision")
            equal(got["evidence"]["text"], "the thread that read the request", "in words")
            equal((got["pid"], got["tid"]), (os.getpid(), thread), "who has called")
            equal(got["requests"], {"open": 1, "may_call": 1, "unattributed": 0}, "requests")
            habits = {habit["name"]: habit for habit in got["habits"]}
            equal(habits["loops-apart"]["state"], "shown", "a habit that nothing has broken")
            equal((habits["direct"]["state"], habits["direct"]["seen"]), ("not yet", 0), "a habit of loops")
            said = lines(ports_of(made[0]))
            equal(said[0], ["call", "by-thread", "the", "thread", "that", "read", "the", "request"], "text")
            equal(any(line[0] == "shown" and "loops-apart," in line for line in said), True, f"habits in {said}")
            ours.sendall(OK)
            far.call("read", number, len(OK))
            equal(why(ports_of(made[0]))["requests"]["open"], 0, "open requests afterwards")
        stay.set()


@case
def call_with_a_rival():
    """A loop has read two requests, and calls: the other one could have called, too."""
    with upstream() as listener, requests(2) as made, select.epoll() as watch:
        for _, _, ours in made:
            ours.setblocking(False)
            watch.register(ours, select.EPOLLIN)
        read = 0
        while read < 2:
            for fd, _ in watch.poll(10):
                read += len(os.read(fd, 4096)) == len(GET)
        with call(listener) as ours:
            got = why(ports_of(ours))
            equal((got["evidence"]["name"], got["veto"]["name"]), ("by-none", "veto-other-idle-loop"), "the decision")
            equal((got["requests"]["open"], got["requests"]["unattributed"]), (2, 1), "requests")
            said = lines(ports_of(ours))
            equal([line[:2] for line in said[:2]],
                  [["call", "by-none"], ["veto", "veto-other-idle-loop"]], "text")


@case
def call_of_nobody():
    """A program that takes no requests calls: there is none that it could be for, and no habit."""
    with upstream() as listener:
        near = Far(common().app)
        number = near.call("connect", *listener.getsockname())
        peer, _ = listener.accept()
        with peer:
            near.call("send", number, CALL.decode())
            equal(len(peer.recv(4096)) > len(CALL), True, "the call has a header")
            ports = peer.getpeername()[1], peer.getsockname()[1]
            got = why(ports)
            equal((got["evidence"]["name"], got["veto"], got["pid"]), ("by-none", None, near.process.pid),
                  "the decision")
            equal((got["requests"], got["habits"]), (None, None), "of a process that serves nobody")
            equal("it takes no requests" in " ".join(lines(ports)[1]), True, f"text: {lines(ports)}")
            plain = next(row for row in common().agent.flows() if (row["sport"], row["dport"]) == ports)
            equal(plain["why"], None, "without -x")
        near.process.kill()
        near.process.wait()
