# SPDX-License-Identifier: Apache-2.0
"""Hosts, links, server and agent for one row of the sweep."""
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from rows import RULES  # noqa: E402

PORT = 8080
SERVER = {4: "10.98.2.2", 6: "fd98:2::2"}
# Without SACK, at 3 % loss and 10 % reordering, connections stood still for 9 seconds with no agent.
HOPELESS_BODIES = 200_000
STUCK_SECONDS = 60
# When aborts are lost: the server asks who is silent for so long, and learns of all ends within ...
PROBE_SECONDS, GONE_SECONDS = 2, 30
# Queues of a TUN device must not drop: the link does that, by its own numbers.
QUEUE = 10000

MASQUERADE = """
table inet chaos {
    chain out {
        type nat hook postrouting priority srcnat;
        ip saddr 10.98.1.0/24 masquerade
        ip6 saddr fd98:1::/64 masquerade
    }
}
"""
# A veth queues per CPU of the sender, so that packets of one connection overtake each other on the
# way to another host; network cards do not. Receive steering puts each flow back on one CPU.
STEER = "mount -t sysfs sysfs /sys && echo 3 > /sys/class/net/{}/queues/rx-0/rps_cpus"


class Rig:
    """A Lab with a client and a server joined as a Row says; `edge` is the host of the agent."""

    def __init__(self, build, row, seed, server_options=(), link_options=()):
        self.build, self.row, self.seed = Path(build), row, seed
        self.programs = self.build / "tests" / "chaos"
        self.server_options, self.link_options = server_options, link_options
        self.lab, self.link_process, self.agent = Lab("chaos"), None, None
        self.policy = tempfile.NamedTemporaryFile("w", prefix="ctxprop-policy-")

    def __enter__(self):
        try:
            self.set_up()
        except BaseException:
            self.lab.close()
            raise
        return self

    def __exit__(self, *_):
        self.lab.close()

    def set_up(self):
        self.client, self.server = self.lab.host("client"), self.lab.host("server")
        self.edge = self.client
        if self.row.path in ("gateway", "near"):
            self.join_by_gateway()
        elif self.row.path == "veth":
            self.join_well(self.client, self.server, mtu=self.row.mtu)
        else:
            self.join(self.client, self.server)
        for host in self.lab.hosts:
            self.tune(host)
        self.wait_ready(self.server.spawn(self.server_argv(), stdout=subprocess.PIPE, text=True), "server")

    def server_argv(self):
        if self.row.streams:
            return [self.programs / "http2_server", PORT]
        return [self.programs / "server", "--port", PORT, "--quiet",
                *(["--probe", PROBE_SECONDS] if self.row.aborts else []), *self.server_options]

    def tune(self, host):
        """Ports for many short connections, and the row's kind of TCP."""
        host.sysctl("net.ipv4.ip_local_port_range", "1024 65535")
        host.sysctl("net.ipv4.tcp_tw_reuse", 1)
        host.sysctl("net.ipv4.tcp_sack", int(self.row.sack))
        host.sysctl("net.ipv4.tcp_timestamps", int(self.row.timestamps))
        for name, value in self.row.sysctls:
            host.sysctl(f"net.ipv4.{name}", value)

    @staticmethod
    def wait_ready(process, name):
        line = process.stdout.readline().strip()
        if line != "ready":
            raise RuntimeError(f"{name}: said {line!r}, not \"ready\"")

    def join(self, a, b, net=2):
        """The bad link, between two hosts in network 10.98.`net`.0."""
        row = self.row
        argv = [self.programs / "link", "--a", a.netns, "--b", b.netns, "--offload", row.offload,
                "--loss", row.loss, "--reorder", row.reorder, "--duplicate", row.duplicate,
                "--corrupt", row.corrupt, "--forge", row.forge, "--delay", row.delay, "--jitter", row.jitter,
                "--mtu", row.mtu, "--icmp", "--seed", self.seed, *self.link_options]
        argv += ["--burst", row.burst] if row.burst else []
        argv += ["--each", row.each] if row.each else []
        argv += ["--pairs"] if row.pairs else []
        argv += ["--tap"] if row.path != "tun" else []
        self.link_process = subprocess.Popen([str(word) for word in argv], text=True,
                                             stdout=subprocess.PIPE, start_new_session=True)
        self.lab.processes.append(self.link_process)
        self.wait_ready(self.link_process, "link")
        mtu = row.mtu if row.limit == "device" else 1500
        for host, (v4, v6) in zip((a, b), addresses(net)):
            host.run(["ip", "addr", "add", v4, "dev", "tun0"])
            host.run(["ip", "addr", "add", v6, "dev", "tun0", "nodad"])
            host.run(["ip", "link", "set", "tun0", "mtu", mtu, "txqueuelen", QUEUE, "up"])

    def join_well(self, a, b, net=2, mtu=1500):
        """A good link: a veth pair."""
        (a4, a6), (b4, b6) = addresses(net)
        for host, device in zip((a, b), self.lab.link(a, b, a4, b4, (a6, b6), mtu=mtu)):
            host.run(["unshare", "--mount", "sh", "-c", STEER.format(device)])
            if self.row.offload == "off":
                host.run(["ethtool", "-K", device, "tx", "off", "tso", "off", "gso", "off",
                          "gro", "off"])

    def join_by_gateway(self):
        """Client - gateway, mostly with SNAT - server; the agent is the gateway's, one link is bad."""
        self.edge = gateway = self.lab.host("gateway")
        links = (self.join, self.join_well) if self.row.path == "near" else (self.join_well, self.join)
        links[0](self.client, gateway, 1)
        links[1](gateway, self.server, 2)
        gateway.sysctl("net.ipv4.ip_forward", 1)
        gateway.sysctl("net.ipv6.conf.all.forwarding", 1)
        if self.row.forge:
            # Connection tracking itself believes strangers, and translates their victims no more.
            self.server.run(["ip", "route", "add", "default", "via", "10.98.2.1"])
            self.server.run(["ip", "route", "add", "default", "via", "fd98:2::1"])
        else:
            gateway.run(["nft", "-f", "-"], input=MASQUERADE)
        self.client.run(["ip", "route", "add", "default", "via", "10.98.1.2"])
        self.client.run(["ip", "route", "add", "default", "via", "fd98:1::2"])

    def start_agent(self):
        """The agent in the edge's namespace, ready."""
        options = ["--http2"] if self.row.streams else []
        if self.row.expect in RULES:
            self.policy.write(f"policy add action {self.row.expect}\n"
                              f"policy add dir forward action {self.row.expect}\n")
            self.policy.flush()
            options = ["--policy", self.policy.name]
        self.agent = Agent(self.edge, self.build, *options)
        return self.agent

    def bodies(self):
        """Largest body. Without SACK, megabytes over a bad link of small packets leave TCP itself
        without an acknowledgement for minutes, agent or not."""
        row = self.row
        hopeless = not row.sack and row.loss >= 5 and row.mtu <= 576
        return min(row.bodies, HOPELESS_BODIES) if hopeless else row.bodies

    def client_argv(self, requests, expect, *more):
        row = self.row
        how = ["--mode", row.mode, "--cut", row.cut, "--aborts", row.aborts]
        if row.streams:
            how = ["--streams", row.streams]
        return [self.programs / ("http2_client" if row.streams else "client"), "--connect", SERVER[row.ip], "--port", PORT,
                "--requests", requests, "--seed", self.seed, "--connections", row.connections, "--bodies", self.bodies(),
                "--expect", expect, "--stuck", STUCK_SECONDS, *how, *row.extra, *more]

    def connections_left(self, seconds=GONE_SECONDS):
        """Those that are open when the client has ended all of its, and both ends had time to learn
        of it: a line of ss for each."""
        end = time.monotonic() + seconds
        while (left := self.connections()) and time.monotonic() < end:
            time.sleep(0.1)
        return left

    def connections(self):
        """Without those of which both ends are known, and only wait for what may come late."""
        argv = ["ss", "-HtnoiO", "state", "connected", "exclude", "time-wait"]
        return [f"{host.name}: {line}" for host in (self.client, self.server)
                for line in host.run(argv).stdout.splitlines()]

    def retransmissions(self):
        """Segments that the ends sent again so far."""
        return sum(tcp_counter(host, "RetransSegs") for host in (self.client, self.server))

    def link_totals(self):
        """Stop the link; its counts, both directions added up."""
        self.link_process.send_signal(signal.SIGTERM)
        said, _ = self.link_process.communicate(timeout=10)
        totals = {}
        for line in said.splitlines():
            for word in line.split():
                name, equals, count = word.partition("=")
                if equals:
                    totals[name] = totals.get(name, 0) + int(count)
        return totals


def addresses(net):
    """The two ends of network number `net`: (IPv4, IPv6) with prefix each."""
    return [(f"10.98.{net}.{end}/24", f"fd98:{net}::{end}/64") for end in (1, 2)]


def tcp_counter(host, name):
    lines = [line.split() for line in host.run(["cat", "/proc/net/snmp"]).stdout.splitlines()
             if line.startswith("Tcp:")]
    return int(lines[1][lines[0].index(name)])


def agent_reasons(agent):
    """What the agent counted, zeros left out, as one line."""
    try:
        counts = agent.stats()
    except (RuntimeError, json.JSONDecodeError) as error:
        return f"no statistics: {error}"
    return " ".join(f"{name}={count}" for name, count in counts.items() if count)
