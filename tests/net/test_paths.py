# SPDX-License-Identifier: Apache-2.0
"""Paths that are narrow, lossy or silent for a long time."""
import contextlib
import os
import random
import socket
import threading
import time

import cases
from agent import Agent
from cases import case, equal, need_program, shared
from firewall import lossy, packets_counted, rules
from lab import Lab
from messages import GET, OK, answered, expect, padded, post, receive_lossy, work_out
from streams import Sending, accept, connect, joined, listen, receive, reset_on_close
from waiting import wait_until
from wire import compare
from worlds import Pair, common, counted

HOOKS = ("input", "output")
LOSSES = 12  # packets to be lost each way


def heads_around(link, mtu, count):
    """Heads of every size around one segment, on one connection."""
    with joined(common().app, common().peer, link.peer) as (c, s):
        with counted(common().agent, injected=count, dropped=0):
            for size in range(mtu - 40 - 70 - count + 40, mtu - 40 - 70 + 40):
                answered(c, s, [padded(size)])
        work_out(c, s)


@case
def mtu_1280():
    """A link with MTU 1280: heads of every size around one segment."""
    heads_around(common().more(mtu=1280), 1280, 180)


@case
def mtu_576():
    """A link with MTU 576: heads of every size around one segment."""
    heads_around(common().more(mtu=576), 576, 180)


@case
def mtu_9000():
    """A link with jumbo frames."""
    heads_around(common().more(mtu=9000), 9000, 180)


class Narrow:
    """app (agent) -- router -- peer; behind the router the path takes 1300 bytes."""

    PEER, PEER6 = "10.96.2.1", "fd00:96:2::1"

    def __init__(self, lab):
        self.app, self.router, self.peer = map(lab.host, ("app", "router", "peer"))
        lab.link(self.app, self.router, "10.96.1.1/24", "10.96.1.2/24",
                 ("fd00:96:1::1/64", "fd00:96:1::2/64"))
        out, _ = lab.link(self.router, self.peer, "10.96.2.2/24", f"{self.PEER}/24",
                          ("fd00:96:2::2/64", f"{self.PEER6}/64"))
        # Only the router's side knows, so the peer's MSS does not tell.
        self.router.run(["ip", "link", "set", out, "mtu", "1300"])
        self.router.sysctl("net.ipv4.ip_forward", 1)
        self.router.sysctl("net.ipv6.conf.all.forwarding", 1)
        for host, gateway, gateway6 in ((self.app, "10.96.1.2", "fd00:96:1::2"),
                                        (self.peer, "10.96.2.2", "fd00:96:2::2")):
            host.run(["ip", "route", "add", "default", "via", gateway])
            host.run(["ip", "-6", "route", "add", "default", "via", gateway6])
        self.agent = Agent(self.app, cases.BUILD)

    def forget(self):
        """Take back what path MTU discovery found out."""
        self.app.run(["ip", "route", "flush", "cache"])
        self.app.run(["ip", "-6", "route", "flush", "cache"])


@shared
@contextlib.contextmanager
def narrow():
    with Lab("narrow") as lab:
        yield Narrow(lab)


@case
def path_mtu_discovery():
    """ICMP says that packets are too big: believed for an injected flow, IPv4 and IPv6."""
    for address in (Narrow.PEER, Narrow.PEER6):
        narrow().forget()
        with joined(narrow().app, narrow().peer, address) as (c, s):
            answered(c, s, [(GET, b"")])
            begin = time.monotonic()
            with counted(narrow().agent, icmp=lambda n: n >= 1, dropped=0):
                answered(c, s, [post(os.urandom(300_000))])
            # A lost ICMP error costs retransmission timeouts before TCP probes by itself.
            assert time.monotonic() - begin < 2, "path MTU discovery took retransmissions"
            work_out(c, s)


@case
def path_mtu_exceeded_by_the_header():
    """The head alone would pass, with the header it is too big for the path."""
    for address in (Narrow.PEER, Narrow.PEER6):
        for size in (1190, 1200, 1220, 1240):
            narrow().forget()
            with joined(narrow().app, narrow().peer, address) as (c, s):
                answered(c, s, [padded(size)])
                answered(c, s, [(GET, b"")])


@contextlib.contextmanager
def cut_answers():
    """The router cuts what the peer sends, which does not ask it not to, to fragments."""
    router, peer = narrow().router, narrow().peer
    before, during = (("eth0", 1500), ("eth1", 1300)), (("eth0", 1300), ("eth1", 1500))
    try:
        for device, mtu in during:
            router.run(["ip", "link", "set", device, "mtu", mtu])
        peer.sysctl("net.ipv4.ip_no_pmtu_disc", 1)
        yield
    finally:
        for device, mtu in before:
            router.run(["ip", "link", "set", device, "mtu", mtu])
        peer.sysctl("net.ipv4.ip_no_pmtu_disc", 0)


@case
def answers_in_fragments():
    """Answers arrive in fragments: what they acknowledge is translated, nothing is sent again."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1350\r\n\r\n" + b"a" * 1350
    with cut_answers(), joined(narrow().app, narrow().peer, Narrow.PEER) as (c, s):
        with counted(narrow().agent, injected=5, resent=0, bad_checksum=0):
            for _ in range(5):
                # The acknowledgement waits for the answer.
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
                c.sendall(GET)
                equal(compare(receive(s, len(GET) + 70), [(GET, b"")]), [True], "header")
                s.sendall(answer)
                equal(receive(c, len(answer)) == answer, True, "the answer")


@case(seconds=120)
def loss_in_both_directions():
    """4 % of the packets lost each way: every byte right, one header each, nothing stuck."""
    need_program("ethtool")
    world, link = common(), common().more()
    # Losses are to hit segments, not GSO packets of 64 KB.
    world.app.run(["ethtool", "-K", link.device, "tso", "off", "gso", "off"])
    draw = random.Random(3)
    with lossy(world.peer, "input", 4), lossy(world.peer, "output", 4):
        # By chance a round may lose nothing; then it shows nothing.
        while min(packets_counted(world.peer, f"lossy_{hook}") for hook in HOOKS) < LOSSES:
            with joined(world.app, world.peer, link.peer) as (c, s):
                for _ in range(6):
                    receive_lossy(c, s, [post(os.urandom(draw.choice((0, 700, 3000, 40_000))))])


def sockets_left(host, port):
    """Sockets of this port in host, TIME_WAIT apart."""
    lines = host.run(["ss", "-Hant", f"( sport = :{port} or dport = :{port} )"]).stdout
    return [line for line in lines.splitlines() if not line.startswith(("TIME-WAIT", "LISTEN"))]


def wait_until_gone(world, port):
    """Until both hosts have no socket of this port, which must be soon."""
    def left():
        return sockets_left(world.app, port) + sockets_left(world.peer, port)

    wait_until(lambda: not left(), lambda: "sockets that do not end:\n" + "\n".join(left()))


@case(seconds=90)
def closing_under_loss():
    """FINs are lost, 15 % each way: both ends still reach the end, whoever closes first."""
    world, link = common(), common().more()
    with listen(world.peer, link.peer) as listener:
        port = listener.getsockname()[1]
        for number in range(12):
            c = connect(world.app, listener.getsockname())
            s = accept(listener)
            answered(c, s, [(GET, b"")])
            with lossy(world.peer, "input", 15), lossy(world.peer, "output", 15):
                for end in ((c, s), (s, c))[number % 2]:
                    end.close()
                time.sleep(0.05)
        wait_until_gone(world, port)


ABORTS = 24
UNREAD = (GET + b"".join(post(bytes(500)))) * 3
HEADERS = 6


def asks_again(sock):
    """An end that has nothing to send asks every second, and gives up only after two minutes."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1),
                          (socket.TCP_KEEPCNT, 120)):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


def answered_once(world, listener, count):
    """Connections with one answered request each: (client, server)."""
    made = []
    for _ in range(count):
        c = connect(world.app, listener.getsockname(), before=asks_again)
        s = accept(listener)
        asks_again(s)
        answered(c, s, [(GET, b"")])
        made.append((c, s))
    return made


def abort(number, c, s):
    """One of the ends is reset, with requests, or answers, or both, or nothing in flight."""
    if number & 1:
        c.sendall(UNREAD)
    if number & 2:
        s.sendall(OK * 50)
    end = s if number & 4 else c
    reset_on_close(end)
    end.close()


@case(seconds=90)
def aborting_under_loss():
    """RSTs are lost, 25 % each way, with headers in flight: who is left learns of it in time."""
    world, link = common(), common().more()
    with listen(world.peer, link.peer) as listener, contextlib.ExitStack() as left:
        port = listener.getsockname()[1]
        with counted(world.agent, injected=ABORTS + ABORTS // 2 * HEADERS):
            ends = answered_once(world, listener, ABORTS)
            for end in sum(ends, ()):
                left.callback(end.close)
            with lossy(world.peer, "input", 25), lossy(world.peer, "output", 25):
                for number, (c, s) in enumerate(ends):
                    abort(number, c, s)
                time.sleep(1.5)
        # What was lost comes again: a probe, or bytes of the end that is left.
        wait_until_gone(world, port)


def connect_late(world, link, hook, flags):
    """A connection whose handshake is lost at first; its client and server sockets."""
    with listen(world.peer, link.peer) as listener:
        made = []
        thread = threading.Thread(
            target=lambda: made.append(connect(world.app, listener.getsockname())))
        with rules(world.peer, "lost", "filter", hook, f"tcp flags & (syn|ack) == {flags} drop"):
            thread.start()
            time.sleep(0.5)
        thread.join()
        return made[0], accept(listener)


@case
def handshake_lost():
    """SYN or SYN-ACK lost and sent again: the flow is injected from its first request."""
    for hook, flags in (("input", "syn"), ("output", "syn|ack")):
        c, s = connect_late(common(), common().more(), hook, f"({flags})")
        with c, s:
            answered(c, s, [(GET, b"")])
            answered(c, s, [post(os.urandom(5000))])


@case
def idle_with_keepalive():
    """TCP keepalive from both sides over a flow whose numbers are shifted."""
    with joined(common().app, common().peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        for end in (c, s):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1),
                                  (socket.TCP_KEEPCNT, 2)):
                end.setsockopt(socket.IPPROTO_TCP, option, value)
        # Long enough for a connection without valid answers to be given up.
        time.sleep(5)
        answered(c, s, [post(os.urandom(2000))])


@case
def zero_window():
    """A receiver that stops reading until its window is shut, then goes on."""
    def small(sock):
        # with less, no request would get a header whose body fills the window
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)

    world = common()
    requests = [post(os.urandom(60_000))]
    head, body = requests[0]
    with listen(world.peer, Pair.PEER, before=small) as listener:
        with connect(world.app, listener.getsockname()) as c, accept(listener) as s:
            answered(c, s, [(GET, b"")])
            sending = Sending(c, head + body)
            time.sleep(1.5)
            got = receive(s, len(head + body) + 70)
            sending.finish()
            equal(compare(got, requests), [True], "header")
            answered(c, s, [(GET, b"")])


@case
def delayed_acknowledgements():
    """Requests and answers in turn, so fast that acknowledgements ride on data."""
    with joined(common().app, common().peer, Pair.PEER) as (c, s):
        for _ in range(500):
            c.sendall(GET)
            equal(compare(receive(s, len(GET) + 70), [(GET, b"")]), [True], "header")
            s.sendall(OK)
            receive(c, len(OK))


@case
def write_behind_an_unacknowledged_head():
    """Many small writes in a row while the peer does not read: headers in flight pile up."""
    with joined(common().app, common().peer, Pair.PEER) as (c, s):
        for _ in range(12):
            c.sendall(GET)
        requests = [(GET, b"")] * 12
        equal(compare(receive(s, 12 * (len(GET) + 70)), requests), [True] * 12, "headers")
        expect(c, s, [(GET, b"")])
