# SPDX-License-Identifier: Apache-2.0
"""The lab of cases of forwarding: a client and a server on either side of a router."""
import contextlib

import cases
from agent import Agent
from cases import shared
from lab import Lab
from worlds import work


class Line:
    """client -- router (where the agent runs) -- server."""

    CLIENT, SERVER = "10.95.1.1", "10.95.2.1"
    CLIENT6, SERVER6 = "fd00:95:1::1", "fd00:95:2::1"

    def __init__(self, lab, agent=True):
        self.lab = lab
        self.client, self.router, self.server = map(lab.host, ("client", "router", "server"))
        lab.link(self.client, self.router, f"{self.CLIENT}/24", "10.95.1.2/24",
                 (f"{self.CLIENT6}/64", "fd00:95:1::2/64"))
        lab.link(self.router, self.server, "10.95.2.2/24", f"{self.SERVER}/24",
                 ("fd00:95:2::2/64", f"{self.SERVER6}/64"))
        self.router.sysctl("net.ipv4.ip_forward", 1)
        self.router.sysctl("net.ipv6.conf.all.forwarding", 1)
        for host, gateway, gateway6 in ((self.client, "10.95.1.2", "fd00:95:1::2"),
                                        (self.server, "10.95.2.2", "fd00:95:2::2")):
            host.run(["ip", "route", "add", "default", "via", gateway])
            host.run(["ip", "-6", "route", "add", "default", "via", gateway6])
        self.agent = Agent(self.router, cases.BUILD) if agent else None

    def work(self, address):
        work(self.client, self.server, address, self.agent)


@shared
@contextlib.contextmanager
def line():
    with Lab("line") as lab:
        yield Line(lab)
