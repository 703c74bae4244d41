# SPDX-License-Identifier: Apache-2.0
"""Where packets come from and where they go: devices, address translation, equal addresses."""
import contextlib
import os
import time

import cases
from agent import Agent
from cases import case, equal, need_program
from firewall import rules, strict
from lab import Lab
from messages import GET, OK, WORK_OUT, answered, post, work_out
from streams import accept, connect, joined, listen, receive
from tun import Tunnel
from wire import LINE_LENGTH, compare
from worlds import Pair, common, counted, pair, work


def work_on(link):
    work(common().app, common().peer, link.peer, common().agent)


@case
def loopback():
    """Client and server in the agent's namespace, over lo: one packet meets both hooks."""
    app, agent = common().app, common().agent
    for address in ("127.0.0.1", "::1", Pair.APP):
        work(app, app, address, agent)


@case
def ipv4_and_ipv6():
    """A veth link, IPv4 and IPv6."""
    for address in (Pair.PEER, Pair.PEER6):
        work(common().app, common().peer, address, common().agent)


@case
def own_connections():
    """What a socket here sends is no forwarded flow: it can be asked for when it is idle."""
    for peer, address in ((common().peer, Pair.PEER), (common().app, "127.0.0.1")):
        with joined(common().app, peer, address) as (c, s):
            answered(c, s, [(GET, b"")])
            port = c.getsockname()[1]
            equal([flow["forwarded"] for flow in common().agent.flows() if flow["sport"] == port],
                  [False], "flows of the port that are forwarded")


@case
def offloads_off():
    """Without checksum and segmentation offload: full checksums, no GSO packets."""
    need_program("ethtool")
    link = common().more()
    for host, device in ((common().app, link.device), (common().peer, link.peer_device)):
        host.run(["ethtool", "-K", device, "tx", "off", "rx", "off", "gso", "off", "tso", "off",
                  "gro", "off"])
    work_on(link)


@case
def checksum_offload_only():
    """Checksums by the device, segments by the stack."""
    need_program("ethtool")
    link = common().more()
    common().app.run(["ethtool", "-K", link.device, "tso", "off", "gso", "off"])
    work_on(link)


@case
def many_queues():
    """A device with four transmit queues: leads never overtake or fall behind their packet."""
    link = common().more(queues=4)
    for _ in range(10):
        work_on(link)


@case
def vlan():
    """A VLAN device upon the link."""
    world, link = common(), common().more()
    cases.need_link_type(world.app, "vlan", "link", link.device)
    for host, device, address in ((world.app, link.device, "10.93.1.1/24"),
                                  (world.peer, link.peer_device, "10.93.1.2/24")):
        host.run(["ip", "link", "add", "link", device, "name", "tagged", "type", "vlan", "id",
                  "7"])
        host.run(["ip", "addr", "add", address, "dev", "tagged"])
        host.run(["ip", "link", "set", "tagged", "up"])
    work(world.app, world.peer, "10.93.1.2", world.agent)


@case
def bridge():
    """The address on a bridge, the link its port."""
    world, link = common(), common().more()
    cases.need_link_type(world.app, "bridge")
    for argv in (["link", "add", "br0", "type", "bridge"],
                 ["link", "set", link.device, "master", "br0"],
                 ["addr", "del", f"{link.app}/24", "dev", link.device],
                 ["addr", "add", f"{link.app}/24", "dev", "br0"],
                 ["link", "set", "br0", "up"]):
        world.app.run(["ip", *argv])
    work_on(link)


@case
def macvlan():
    """A macvlan device upon the link."""
    world, link = common(), common().more()
    cases.need_link_type(world.app, "macvlan", "link", link.device)
    for argv in (["link", "add", "link", link.device, "name", "mac0", "type", "macvlan", "mode",
                  "bridge"],
                 ["addr", "add", "10.93.2.1/24", "dev", "mac0"],
                 ["link", "set", "mac0", "up"]):
        world.app.run(["ip", *argv])
    world.peer.run(["ip", "addr", "add", "10.93.2.2/24", "dev", link.peer_device])
    work(world.app, world.peer, "10.93.2.2", world.agent)


@case
def tun():
    """A TUN device: packets without an Ethernet header, checksums complete."""
    world = common()
    with Tunnel(world.app, "10.94.0.1/24", world.peer, "10.94.0.2/24"):
        world.agent.wait_attached("tun0")
        work(world.app, world.peer, "10.94.0.2", world.agent)


@case
def conntrack_on_both_sides():
    """Strict conntrack under the agent and at the peer: both see consistent numbers."""
    world = common()
    with contextlib.ExitStack() as stack:
        for host in (world.app, world.peer):
            for hook in ("input", "output"):
                stack.enter_context(strict(host, hook))
        for _ in range(3):
            work(world.app, world.peer, Pair.PEER, world.agent)


@case
def dnat_of_local_traffic():
    """A destination that the OUTPUT chain rewrites."""
    world = common()
    with rules(world.app, "translate", "nat", "output", "ip daddr 10.91.0.99 dnat to 10.91.0.2",
               priority=-100, family="ip"), listen(world.peer, Pair.PEER, 8080) as listener:
        with connect(world.app, ("10.91.0.99", 8080)) as c, accept(listener) as s:
            with counted(world.agent, injected=WORK_OUT, dropped=0):
                work_out(c, s)


@case
def dnat_upon_loopback():
    """Translation upon lo: both directions have other ports there; nothing is touched."""
    world = common()
    with rules(world.app, "translate", "nat", "output",
               "ip daddr 127.0.0.1 tcp dport 80 redirect to :8080", priority=-100,
               family="ip"), listen(world.app, "127.0.0.1", 8080) as listener:
        with connect(world.app, ("127.0.0.1", 80)) as c, accept(listener) as s:
            with counted(world.agent, injected=0):
                work_out(c, s, injected=False)


@case
def rejected_connection():
    """A firewall refuses the connection, by RST and by ICMP: the client hears of it at once."""
    for kind in ("with tcp reset", "with icmpx type admin-prohibited"):
        with rules(common().peer, "refuse", "filter", "input", f"tcp dport 8080 reject {kind}"):
            try:
                connect(common().app, (Pair.PEER, 8080))
            except TimeoutError as error:
                raise AssertionError(f"{kind}: neither accepted nor refused") from error
            except OSError:
                continue
            raise AssertionError(f"{kind}: the connection was accepted")


@case
def rejected_in_the_middle():
    """A firewall resets an injected connection: the client hears of it at once."""
    world = common()
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        with rules(world.peer, "refuse", "filter", "input",
                   "meta l4proto tcp reject with tcp reset"):
            c.sendall(GET)
            try:
                equal(c.recv(1), "reset", "what the client reads")
            except ConnectionResetError:
                pass


@case
def other_protocols_pass():
    """ICMP and fragmented ICMP pass while the agent runs."""
    need_program("ping")
    world = common()
    for size in (56, 4000):
        done = world.app.run(["ping", "-c", "2", "-i", "0.2", "-W", "2", "-s", size, Pair.PEER],
                             check=False)
        equal(done.returncode, 0, f"ping of {size} bytes")


@case
def same_addresses_in_two_namespaces():
    """Two namespaces with the same addresses and the same port pair do not mix."""
    with pair() as other, contextlib.ExitStack() as stack:
        worlds, links = (common(), other), []
        for world in worlds:
            listener = stack.enter_context(listen(world.peer, Pair.PEER, 8080))
            c = stack.enter_context(connect(world.app, (Pair.PEER, 8080), (Pair.APP, 4444)))
            links.append((c, stack.enter_context(accept(listener))))
        stack.enter_context(counted(common().agent, injected=4))
        stack.enter_context(counted(other.agent, injected=8))
        for size in (0, 10, 2000, 100_000):
            for number, (c, s) in enumerate(links):
                for _ in range(1 + number):
                    answered(c, s, [post(os.urandom(size + 1000 * number))])


class Tenants:
    """Two tenants with the same addresses, each behind a bridge of its own of one node."""

    CLIENT, SERVER = "10.95.9.1", "10.95.9.2"

    def __init__(self, lab):
        self.node, self.hosts = lab.host("node"), []
        for number in range(2):
            hosts = [lab.host(f"{name}{number}") for name in ("client", "server")]
            bridge = f"br{number}"
            self.node.run(["ip", "link", "add", bridge, "type", "bridge"])
            for host, address in zip(hosts, (self.CLIENT, self.SERVER)):
                _, device = lab.link(host, self.node, f"{address}/24", "10.95.5.1/32")
                self.node.run(["ip", "link", "set", device, "master", bridge])
            self.node.run(["ip", "link", "set", bridge, "up"])
            self.hosts.append(hosts)

    def start_agent(self):
        self.agent = Agent(self.node, cases.BUILD)
        return self

    @contextlib.contextmanager
    def joined(self, number, port=4444):
        """A connection of one of them, between the ports that the other one's has, too."""
        client, server = self.hosts[number]
        with listen(server, self.SERVER, 8080) as listener:
            with connect(client, (self.SERVER, 8080), (self.CLIENT, port)) as c:
                with accept(listener) as s:
                    yield c, s


@contextlib.contextmanager
def tenants():
    with Lab("tenants") as lab:
        cases.need_link_type(lab.host("probe"), "bridge")
        yield Tenants(lab)


def in_turn(first, second, injected=(True, False)):
    """Requests of both connections, small and large, and one into the middle of the other's."""
    for size in (0, 100, 3000, 200_000):
        for link, flag in zip((first, second), injected):
            answered(*link, [post(os.urandom(size))], [flag])
            answered(*link, [(GET, b"")] * 3, [flag] * 3)
    (c, s), body = first, os.urandom(50_000)
    head, _ = post(body)
    for half in range(2):
        c.sendall((head + body)[half * 25_000:][:25_000 + half * len(head)])
        answered(*second, [post(os.urandom(5000))], [injected[1]])
    added = LINE_LENGTH * injected[0]
    equal(compare(receive(s, len(head + body) + added), [(head, body)]), [injected[0]], "header")
    s.sendall(OK)
    equal(receive(c, len(OK)), OK, "answer")


@case
def same_addresses_in_one_namespace():
    """Live connections of two tenants with equal addresses and ports: the first one is injected."""
    with tenants() as net:
        agent = net.start_agent().agent
        for first, second in ((0, 1), (1, 0)):
            with contextlib.ExitStack() as stack:
                one = stack.enter_context(net.joined(first))
                with counted(agent, injected=2):
                    answered(*one, [(GET, b"")])
                    answered(*one, [post(os.urandom(100_000))])
                with contextlib.ExitStack() as inner, counted(agent, injected=17, dropped=0):
                    other = inner.enter_context(net.joined(second))
                    in_turn(one, other)
                # Then the second one ends while the first goes on, and the other way round.
                other = stack.enter_context(net.joined(second))
                in_turn(one, other)
                for sock in reversed(one):
                    sock.close()
                time.sleep(0.1)
                # It is alone now, and can be joined; the first one's offset is not for it.
                for request, injected in (((GET, b""), False), (post(os.urandom(200_000)), True)):
                    answered(*other, [request], [injected])


@case
def older_connections_with_the_same_addresses():
    """The same of connections older than the agent: the one that is joined is injected."""
    with tenants() as net, net.joined(0) as one:
        time.sleep(1.5)  # or numbers alike: both namespaces have them by one clock
        with net.joined(1) as other:
            agent = net.start_agent().agent
            answered(*one, [(GET, b"")], [False])
            with counted(agent, injected=17, dropped=0, twin=lambda n: n > 0):
                in_turn(one, other)
