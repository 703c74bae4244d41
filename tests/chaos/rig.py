# SPDX-License-Identifier: Apache-2.0
"""Hosts, links, server and agent for one row of the sweep."""
import json
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402

PORT = 8080
SERVER = {4: "10.98.2.2", 6: "fd98:2::2"}
# Queues of a TUN device must not drop: the link does that, by its own numbers.
QUEUE = 10000

MASQUERADE = """
table inet chaos {
    chain out { type nat hook postrouting priority srcnat; oifname "tun0" masquerade; }
}
"""


class Rig:
    """A Lab with a client and a server joined as a Row says; `edge` is the host of the agent."""

    def __init__(self, build, row, seed, server_options=(), link_options=()):
        self.build, self.row, self.seed = Path(build), row, seed
        self.programs = self.build / "tests" / "chaos"
        self.server_options, self.link_options = server_options, link_options
        self.lab, self.link_process, self.link_counts = Lab("chaos"), None, ""
        self.agent, self.server_process = None, None

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
        if self.row.path == "gateway":
            self.join_by_gateway()
        elif self.row.path == "veth":
            self.join_by_veth()
        else:
            self.join(self.client, self.server)
        for host in self.lab.hosts:
            self.tune(host)
        self.server_process = self.server.spawn(
            [self.programs / "server", "--port", PORT, "--quiet", *self.server_options],
            stdout=subprocess.PIPE, text=True)
        self.wait_ready(self.server_process, "server")

    def tune(self, host):
        """Ports for many short connections, and the row's kind of TCP."""
        host.sysctl("net.ipv4.ip_local_port_range", "1024 65535")
        host.sysctl("net.ipv4.tcp_tw_reuse", 1)
        host.sysctl("net.ipv4.tcp_sack", int(self.row.sack))
        host.sysctl("net.ipv4.tcp_timestamps", int(self.row.timestamps))

    @staticmethod
    def wait_ready(process, name):
        line = process.stdout.readline().strip()
        if line != "ready":
            raise RuntimeError(f"{name}: said {line!r}, not \"ready\"")

    def join(self, a, b):
        """The bad link."""
        row = self.row
        argv = [self.programs / "link", "--a", a.netns, "--b", b.netns, "--offload", row.offload,
                "--loss", row.loss, "--reorder", row.reorder, "--duplicate", row.duplicate,
                "--corrupt", row.corrupt, "--delay", row.delay, "--jitter", row.jitter,
                "--mtu", row.mtu, "--icmp", "--seed", self.seed, *self.link_options]
        argv += ["--tap"] if row.path != "tun" else []
        self.link_process = subprocess.Popen([str(word) for word in argv], text=True,
                                             stdout=subprocess.PIPE, start_new_session=True)
        self.lab.processes.append(self.link_process)
        self.wait_ready(self.link_process, "link")
        for host, number in ((a, 1), (b, 2)):
            self.configure(host, "tun0", f"10.98.2.{number}/24", f"fd98:2::{number}/64")

    def configure(self, host, device, *addresses):
        for address in addresses:
            nodad = ["nodad"] if ":" in address else []
            host.run(["ip", "addr", "add", address, "dev", device, *nodad])
        mtu = self.row.mtu if self.row.limit == "device" else 1500
        host.run(["ip", "link", "set", device, "mtu", mtu, "txqueuelen", QUEUE, "up"])

    def join_by_veth(self):
        devices = self.lab.link(self.client, self.server, "10.98.2.1/24", "10.98.2.2/24",
                                ("fd98:2::1/64", "fd98:2::2/64"), mtu=self.row.mtu)
        if self.row.offload == "off":
            self.no_offloads(self.client, devices[0])
            self.no_offloads(self.server, devices[1])

    @staticmethod
    def no_offloads(host, device):
        host.run(["ethtool", "-K", device, "tx", "off", "tso", "off", "gso", "off", "gro", "off"])

    def join_by_gateway(self):
        """Client - good link - gateway with SNAT - bad link - server; the agent is the gateway's."""
        self.edge = gateway = self.lab.host("gateway")
        devices = self.lab.link(self.client, gateway, "10.98.1.1/24", "10.98.1.2/24",
                                ("fd98:1::1/64", "fd98:1::2/64"))
        if self.row.offload == "off":
            self.no_offloads(self.client, devices[0])
            self.no_offloads(gateway, devices[1])
        self.join(gateway, self.server)
        gateway.sysctl("net.ipv4.ip_forward", 1)
        gateway.sysctl("net.ipv6.conf.all.forwarding", 1)
        gateway.run(["nft", "-f", "-"], input=MASQUERADE)
        self.client.run(["ip", "route", "add", "default", "via", "10.98.1.2"])
        self.client.run(["ip", "route", "add", "default", "via", "fd98:1::2"])

    def start_agent(self):
        """The agent in the edge's namespace, ready."""
        self.agent = Agent(self.edge, self.build)
        return self.agent

    def client_argv(self, requests, expect, *more):
        row = self.row
        return [self.programs / "client", "--connect", SERVER[row.ip], "--port", PORT,
                "--requests", requests, "--seed", self.seed, "--connections", row.connections,
                "--mode", row.mode, "--cut", row.cut, "--bodies", row.bodies, "--expect", expect,
                *row.extra, *more]

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
