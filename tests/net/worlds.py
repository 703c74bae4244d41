# SPDX-License-Identifier: Apache-2.0
"""The labs that most cases need: an application's namespace with the agent, and a peer's."""
import contextlib
from collections import namedtuple

import cases
from agent import Agent
from lab import Lab
from messages import WORK_OUT, work_out
from streams import joined

# One more link of a Pair: device names and addresses (without prefix length) on both sides.
Link = namedtuple("Link", "device peer_device app peer")


class Pair:
    """`app` (where the agent runs) and `peer`, one link between them, IPv4 and IPv6."""

    APP, PEER = "10.91.0.1", "10.91.0.2"
    APP6, PEER6 = "fd00:91::1", "fd00:91::2"

    def __init__(self, lab, *options):
        self.lab, self.links = lab, 0
        self.app, self.peer = lab.host("app"), lab.host("peer")
        self.device, self.peer_device = lab.link(
            self.app, self.peer, f"{self.APP}/24", f"{self.PEER}/24",
            (f"{self.APP6}/64", f"{self.PEER6}/64"))
        self.options, self.agent = options, None

    def start_agent(self):
        self.agent = Agent(self.app, cases.BUILD, *self.options)
        return self

    def more(self, **kw):
        """One more link, beside the running agent."""
        self.links += 1
        app, peer = (f"10.92.{self.links}.{n}" for n in (1, 2))
        made = Link(*self.lab.link(self.app, self.peer, f"{app}/24", f"{peer}/24", **kw), app, peer)
        self.agent.wait_attached(made.device)
        return made


@contextlib.contextmanager
def pair(*options, agent=True):
    """A Pair of its own for one case."""
    with Lab("net") as lab:
        made = Pair(lab, *options)
        yield made.start_agent() if agent else made


@cases.shared
def common():
    """The Pair that the cases of a module share: starting an agent takes seconds."""
    return pair()


@contextlib.contextmanager
def counted(agent, **wanted):
    """These counters (with _ for -) grow by so much meanwhile. A function tests the growth."""
    before = agent.stats()
    yield
    after = agent.stats()
    for name, expected in wanted.items():
        key = name.replace("_", "-")
        grown = after[key] - before[key]
        if not (expected(grown) if callable(expected) else grown == expected):
            changed = {k: v - before[k] for k, v in after.items() if v != before[k]}
            raise AssertionError(f"counter {key} grew by {grown}; all that changed: {changed}")


def work(client, server, address, agent):
    """A whole work_out() between two hosts, every request with one header, nothing dropped."""
    with joined(client, server, address) as (c, s):
        with counted(agent, injected=WORK_OUT, dropped=0):
            work_out(c, s)
