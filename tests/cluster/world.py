# SPDX-License-Identifier: Apache-2.0
"""A small cluster out of network namespaces.

    pods 1, 2 -- node 1 \\
                          gateway (masquerade) -- outside
    pods 1, 2 -- node 2 /

An agent on each node works in the node and its pods; one on the gateway, for what it forwards.
All pods have the same loopback address and port in use, as everywhere.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))

from agent import Agent  # noqa: E402
from lab import sh  # noqa: E402
from recorder import Recorder  # noqa: E402

LOOPBACK_PORT, PORT = 8080, 80
GATEWAY, OUTSIDE = "203.0.113.1", "203.0.113.2"
CLUSTER = "10.96.0.0/16"
MASQUERADE = f"""table ip cluster {{
    chain out {{
        type nat hook postrouting priority 100
        ip daddr != {CLUSTER} masquerade
    }}
}}
"""


class Pod:
    """A pod with two servers: on its address, and on loopback."""

    def __init__(self, cluster, node, number):
        self.node, self.number = node, number
        self.name = f"n{node.number}pod{number}"
        self.host = cluster.lab.host(self.name)
        net = f"10.96.{10 * node.number + number}"
        self.address = f"{net}.2"
        cluster.lab.link(node.host, self.host, f"{net}.1/24", f"{self.address}/24")
        self.host.run(["ip", "route", "add", "default", "via", f"{net}.1"])
        cluster.gateway.run(["ip", "route", "replace", f"{net}.0/24", "via", node.address])
        self.servers = [Recorder(self.host, self.address, PORT),
                        Recorder(self.host, "127.0.0.1", LOOPBACK_PORT)]

    def close(self):
        for server in self.servers:
            server.close()


class NodeOfCluster:
    """A node, its pods, and from start() on its agent."""

    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.host = cluster.lab.host(f"node{number}")
        self.address = f"10.96.{number}.1"
        cluster.lab.link(self.host, cluster.gateway, f"{self.address}/24",
                         f"10.96.{number}.254/24")
        self.host.sysctl("net.ipv4.ip_forward", 1)
        self.host.run(["ip", "route", "add", "default", "via", f"10.96.{number}.254"])
        self.pods, self.agent = [], None

    def add_pod(self):
        self.pods.append(Pod(self.cluster, self, len(self.pods) + 1))
        return self.pods[-1]

    def start(self, build):
        pattern = self.pods[0].host.netns.replace("pod1", "pod*")
        self.agent = Agent(self.host, build, "--netns", pattern)

    def attended(self, pod):
        return f"{pod.host.netns}/eth0: " in self.agent.said()

    def remove(self, pod):
        pod.close()
        self.pods.remove(pod)
        sh("ip", "netns", "del", pod.host.netns)


class Cluster:
    def __init__(self, lab, build):
        self.lab = lab
        self.gateway, self.outside = lab.host("gateway"), lab.host("outside")
        lab.link(self.gateway, self.outside, f"{GATEWAY}/24", f"{OUTSIDE}/24")
        self.gateway.sysctl("net.ipv4.ip_forward", 1)
        self.gateway.run(["nft", "-f", "-"], input=MASQUERADE)
        self.nodes = [NodeOfCluster(self, number) for number in (1, 2)]
        for node in self.nodes:
            node.add_pod()
            node.add_pod()
            node.start(build)
        self.gateway_agent = Agent(self.gateway, build)
        self.server = Recorder(self.outside, OUTSIDE, PORT)

    def agents(self):
        return [*(node.agent for node in self.nodes), self.gateway_agent]

    def pods(self):
        return [pod for node in self.nodes for pod in node.pods]

    def hops(self, pod, address):
        """(agent, dir, from) of all who decide about a request of a pod, in their order.

        What was decided in a pod is not decided again by its own node.
        """
        way = [(pod.node.agent, "out", pod.address)]
        if address == "127.0.0.1":
            return [(pod.node.agent, "out", address)]
        if address == OUTSIDE:
            return [*way, (self.gateway_agent, "forward", GATEWAY)]
        node, = (node for node in self.nodes for other in node.pods if other.address == address)
        if node is pod.node:
            return way
        return [*way, (self.gateway_agent, "forward", pod.address),
                (node.agent, "forward", pod.address)]
