# SPDX-License-Identifier: Apache-2.0
"""What a router does with others' connections: forwarding, masquerade, boxes outside, fragments."""
import contextlib
import os
import time

import cases
from agent import Agent
from cases import Skip, case, equal, need_program
from firewall import rules, strict
from lab import Lab
from messages import GET, OK, WORK_OUT, answered, expect, padded, post, untouched, work_out
from routed import Line, line
from streams import joined, receive, send_through
from tun import Tunnel
from wire import LINE_LENGTH, compare
from worlds import counted


@case
def forwarded():
    """Requests that a router forwards get their header there, IPv4 and IPv6."""
    for address in (Line.SERVER, Line.SERVER6):
        line().work(address)
    assert all(flow["forwarded"] for flow in line().agent.flows()), line().agent.flows()


@case
def forwarded_masquerade():
    """The same behind address translation, with a conntrack that drops what it does not know."""
    net = line()
    # The server does not know the client: only translation brings answers back.
    net.server.run(["ip", "route", "del", "default"])
    try:
        with rules(net.router, "masq", "nat", "postrouting", 'oifname "eth1" masquerade',
                   priority=100, family="ip"), strict(net.router, "forward"):
            for _ in range(3):
                net.work(Line.SERVER)
    finally:
        net.server.run(["ip", "route", "add", "default", "via", "10.95.2.2"])


def redirect(host, device, to):
    """What comes in at a device of the host goes out at another one, past routing."""
    for argv in (["qdisc", "add", "dev", device, "clsact"],
                 ["filter", "add", "dev", device, "ingress", "prio", "60000", "u32", "match", "u32",
                  "0", "0", "action", "mirred", "egress", "redirect", "dev", to]):
        done = host.run(["tc", *argv], check=False)
        if done.returncode:
            raise Skip(f"tc {argv[0]}: {done.stderr.strip()}")


@case
def redirected():
    """Packets that reach the next device past routing, with their sender's socket, are forwarded."""
    with Lab("redirect") as lab:
        client, node, server = map(lab.host, ("client", "node", "server"))
        for host, address in ((client, "10.95.4.1/24"), (server, "10.95.4.2/24")):
            lab.link(host, node, address, "10.95.5.1/32")
        redirect(node, "eth0", "eth1")
        redirect(node, "eth1", "eth0")
        agent = Agent(node, cases.BUILD)
        agent.command("policy", "add", "dir", "out", "action", "skip")
        with joined(client, server, "10.95.4.2") as (c, s):
            with counted(agent, injected=WORK_OUT, dropped=0):
                work_out(c, s)
            # Nobody but its own namespace knows the socket: the flow must not be asked for here.
            equal([flow["forwarded"] for flow in agent.flows()], [True], "flows that are forwarded")


@contextlib.contextmanager
def detour(net, there, back):
    """The router sends on what the client sends by the route `there`, the server's by `back`."""
    ways = ((100, "eth0", Line.SERVER, there), (101, "eth1", Line.CLIENT, back))
    for table, device, to, route in ways:
        net.router.run(["ip", "rule", "add", "iif", device, "to", to, "lookup", table])
        net.router.run(["ip", "route", "replace", "default", *route, "table", table])
        for name in ("all", route[-1]):
            net.router.sysctl(f"net.ipv4.conf.{name}.rp_filter", 0)
    try:
        yield
    finally:
        for table, *_ in ways:
            net.router.run(["ip", "rule", "del", "lookup", table])


@case
def forwarded_twice():
    """A box outside inspects what a router forwards: packets pass twice, and are left alone."""
    net = line()
    with Tunnel(net.router, "10.95.6.1/32", net.router, "10.95.6.2/32", ("tun0", "tun1")):
        net.agent.wait_attached("tun0", "tun1")
        with detour(net, ("dev", "tun0"), ("dev", "tun1")):
            with counted(net.agent, injected=0, twice=1):
                with joined(net.client, net.server, Line.SERVER) as (c, s):
                    work_out(c, s, injected=False)


@case(slow=True)
def older_forwarded_twice():
    """The same of a connection that is older than the agent: left alone once that shows."""
    with Lab("older-line") as lab:
        net = Line(lab, agent=False)
        with Tunnel(net.router, "10.95.6.1/32", net.router, "10.95.6.2/32", ("tun0", "tun1")):
            with detour(net, ("dev", "tun0"), ("dev", "tun1")):
                with joined(net.client, net.server, Line.SERVER) as (c, s):
                    agent = Agent(net.router, cases.BUILD)
                    with counted(agent, injected=0, twice=1):
                        for _ in range(3):
                            work_out(c, s, injected=False)


@case
def forwarded_through_a_namespace():
    """The same with a box in this machine: a packet keeps its mark, and is changed once."""
    net, box = line(), line().lab.host("box")
    near, _ = net.lab.link(net.router, box, "10.95.7.1/24", "10.95.7.2/24")
    far, _ = net.lab.link(net.router, box, "10.95.8.1/24", "10.95.8.2/24")
    net.agent.wait_attached(near, far)
    box.sysctl("net.ipv4.ip_forward", 1)
    box.run(["ip", "route", "add", Line.SERVER, "via", "10.95.8.1"])
    box.run(["ip", "route", "add", Line.CLIENT, "via", "10.95.7.1"])
    with detour(net, ("via", "10.95.7.2", "dev", near), ("via", "10.95.8.2", "dev", far)):
        net.work(Line.SERVER)


@contextlib.contextmanager
def joined_as_lists(net):
    """GRO of the router joins packets without making one of them; the ends send them one by one."""
    wanted = [(host, "eth0", feature, "off", "on") for host in (net.client, net.server)
              for feature in ("tso", "gso")]
    for device in ("eth0", "eth1"):
        wanted += [(net.router, device, "tx-gso-list", "off", "on"),
                   (net.router, device, "gro", "on", "off"),
                   (net.router, device, "rx-gro-list", "on", "off")]
    try:
        for host, device, feature, state, _ in wanted:
            if host.run(["ethtool", "-K", device, feature, state], check=False).returncode:
                raise Skip(f"no {feature} here")
        yield
    finally:
        for host, device, feature, _, before in wanted:
            host.run(["ethtool", "-K", device, feature, before], check=False)


@case
def forwarded_as_lists():
    """rx-gro-list: packets that a router joins, and sends on one by one as they came."""
    need_program("ethtool")
    net = line()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + os.urandom(300_000)
    with joined_as_lists(net):
        for address in (Line.SERVER, Line.SERVER6):
            net.work(address)
            with joined(net.client, net.server, address) as (c, s):
                expect(c, s, [(GET, b"")])
                # Each packet of the answer acknowledges the request.
                equal(send_through(s, c, answer) == answer, True, "the answer")


@contextlib.contextmanager
def cutting(net):
    """The router cuts what the client sends, which does not ask it not to, to fragments."""
    net.router.run(["ip", "link", "set", "eth1", "mtu", "1400"])
    net.client.sysctl("net.ipv4.ip_no_pmtu_disc", 1)
    try:
        yield
    finally:
        net.router.run(["ip", "link", "set", "eth1", "mtu", "1500"])
        net.client.sysctl("net.ipv4.ip_no_pmtu_disc", 0)


@case
def forwarded_in_fragments():
    """An injected request comes again in one packet with its body, which has to be cut: it arrives."""
    net, body = line(), os.urandom(1290)
    head, _ = post(body)
    with cutting(net), joined(net.client, net.server, Line.SERVER) as (c, s):
        answered(c, s, [(GET, b"")])
        with counted(net.agent, injected=1, fragment=1, bad_checksum=0):
            with rules(net.server, "lost", "filter", "input", "meta l4proto tcp drop"):
                for piece in (head, body[:645], body[645:]):
                    c.sendall(piece)
                time.sleep(0.15)  # for the losses, and shorter than TCP waits
            got = receive(s, len(head + body) + LINE_LENGTH)
            equal(compare(got, [(head, body)]), [True], "header")
            s.sendall(OK)
            equal(receive(c, len(OK)), OK, "answer")
        untouched(c, s, padded(3000)[0])


@case
def one_way():
    """Replies take another way than through the router: not injected, counted, all arrives."""
    net = line()
    back, _ = net.lab.link(net.server, net.client, "10.95.3.1/24", "10.95.3.2/24")
    net.server.run(["ip", "route", "replace", f"{Line.CLIENT}/32", "via", "10.95.3.2", "dev", back,
                    "src", Line.SERVER])
    for host in (net.client, net.server, net.router):
        for device in ("all", "eth0", "eth1"):
            host.run(["sysctl", "-qw", f"net.ipv4.conf.{device}.rp_filter=0"], check=False)
    with joined(net.client, net.server, Line.SERVER) as (c, s):
        with counted(net.agent, injected=0, one_way=lambda n: n >= 1):
            work_out(c, s, injected=False)
