# SPDX-License-Identifier: Apache-2.0
"""Floods that want the flow table full: whoever opens a connection next has its header at once."""
import contextlib
import json
import re
import resource
import subprocess
import sys

from cases import case, equal
from firewall import rules
from lab import Lab
from messages import GET, answered
from routed import Line
from segments import PSH_ACK, SYN_ACK, Segments, mac
from streams import joined
from worlds import Pair, common, counted

FLOOD = 131_000
ARRIVE = 100_000  # of them, at least: queues on the way may overflow
FLOWS = 32768     # CTXPROP_FLOWS_DEFAULT
FEW = 100
STRANGERS = 1024  # STRANGERS_MAX (tc/21-room.bpf.h)
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def injected_at_once(client, server, address):
    with joined(client, server, address) as (c, s):
        answered(c, s, [(GET, b"")])
        answered(c, s, [(GET, b"")])


def doctor(agent, what):
    findings = json.loads(agent.command("doctor", "--json", check=False))
    return next(f["text"] for f in findings if f["what"] == what)


def flood_of_syn_acks(source, to):
    """The peer sends SYN-ACKs from `source` to `to`; then connections are opened."""
    world = common()
    before = len(world.agent.flows())
    with counted(world.agent, unasked=lambda n: n > ARRIVE, crowded_out=0, table_full=0):
        with Segments(world.peer, world.peer_device, mac(world.app, world.device), source, to,
                      SYN_ACK) as flood:
            flood.send_many(FLOOD)
        injected_at_once(world.app, world.peer, Pair.PEER)
        injected_at_once(world.app, world.app, "127.0.0.1")
    if len(world.agent.flows()) > before + FEW:
        raise AssertionError(f"{len(world.agent.flows())} flows, before: {before}")
    said = int(re.search(r"nobody asked for: (\d+)", doctor(world.agent, "flow table"))[1])
    if said < ARRIVE:
        raise AssertionError(f"doctor: {said}")


@case(slow=True)
def syn_acks():
    """131,000 SYN-ACKs that nobody asked for: no flow is made"""
    flood_of_syn_acks(Pair.PEER, Pair.APP)


@case(slow=True)
def syn_acks_behind_a_firewall():
    """The same where a firewall drops what belongs to no connection"""
    with rules(common().app, "wall", "filter", "input", 'iif "lo" accept',
               "ct state established,related accept", "meta l4proto tcp drop"):
        flood_of_syn_acks(Pair.PEER, Pair.APP)


@case(slow=True)
def syn_acks_for_others():
    """The same to an address that is not a local one"""
    flood_of_syn_acks(Pair.PEER, "10.91.0.77")


@case(slow=True)
def syn_acks_of_martians():
    """The same from addresses that nobody may have"""
    for source in ("127.0.0.9", "240.0.0.9"):
        flood_of_syn_acks(source, Pair.APP)


# Connections to listeners that accept none: where the client closes its side keeps no descriptor,
# and the listener's has none yet.
HALF_CLOSED = """
import socket, sys, time
listeners = []
for _ in range(32):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(4096)
    listeners.append(s)
made = 0
for s in listeners:
    for _ in range(4096):
        c = socket.socket()
        c.settimeout(2)
        try:
            c.connect(s.getsockname())
            c.sendall(REQUEST)
        except OSError:
            break
        finally:
            c.close()
        made += 1
print(made, flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def half_closed(request=b""):
    """A user without rights has made as many connections as that; gives their number."""
    process = common().app.spawn(
        [*NOBODY, sys.executable, "-S", "-E", "-c", HALF_CLOSED.replace("REQUEST", repr(request))],
        stdout=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (40, 40)))
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


@case(seconds=240, slow=True)
def half_closed_connections():
    """33 descriptors of a user without rights, and 131,000 connections that are closed on one side"""
    world = common()
    world.app.sysctl("net.core.somaxconn", 4096)
    with half_closed() as made:
        if made < ARRIVE:
            raise AssertionError(f"{made} connections")
        with counted(world.agent, table_full=0):
            injected_at_once(world.app, world.peer, Pair.PEER)
            injected_at_once(world.app, world.app, "127.0.0.1")
        said = re.search(r"made room when it was full: (\d+)", doctor(world.agent, "flow table"))
        equal(int(said[1]) > FLOWS, True, "many flows made room, and doctor says so")
        world.agent.wait_logged("flow-table-full", seconds=15)


@case(seconds=240, slow=True)
def half_closed_connections_with_headers():
    """The same with a request on each, which gets a header and so is kept: a user has a share"""
    world = common()
    world.app.sysctl("net.core.somaxconn", 4096)
    with half_closed(GET) as made:
        if made < ARRIVE:
            raise AssertionError(f"{made} connections")
        with counted(world.agent, table_full=0, share_full=0):
            injected_at_once(world.app, world.peer, Pair.PEER)
            injected_at_once(world.app, world.app, "127.0.0.1")
        said = doctor(world.agent, "flow table")
        shifted, refused = (int(re.search(pattern, said)[1]) for pattern in
                            (r"(\d+) of them shifted", r"used up its share: (\d+)"))
        if shifted > FLOWS / 2 + FEW or refused < FLOWS:
            raise AssertionError(f"doctor: {said}")


@case(slow=True)
def requests_without_a_connection():
    """131,000 packets like requests that a gateway sends on, of no connection"""
    with Lab("flood") as lab:
        line = Line(lab)
        # Else the server's RSTs end them.
        with rules(line.server, "silent", "filter", "input", "tcp dport 80-90 drop"), \
                Segments(line.client, "eth0", mac(line.router, "eth0"), Line.CLIENT, Line.SERVER,
                         PSH_ACK, GET) as flood:
            flood.send_many(FLOOD)
        flows = len(line.agent.flows())
        if not STRANGERS / 2 < flows < STRANGERS + FEW:
            raise AssertionError(f"{flows} flows")
        with counted(line.agent, table_full=0):
            injected_at_once(line.client, line.server, Line.SERVER)
            injected_at_once(line.router, line.server, Line.SERVER)
