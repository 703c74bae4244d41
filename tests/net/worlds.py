# SPDX-License-Identifier: Apache-2.0
"""The labs that most cases need: an application's namespace with the agent, and a peer's."""
import contextlib

import cases
from agent import Agent
from lab import Lab


class Pair:
    """`app` (where the agent runs) and `peer`, one link between them, IPv4 and IPv6."""

    APP, PEER = "10.91.0.1", "10.91.0.2"
    APP6, PEER6 = "fd00:91::1", "fd00:91::2"

    def __init__(self, lab, *options, **link):
        self.lab = lab
        self.app, self.peer = lab.host("app"), lab.host("peer")
        self.device, self.peer_device = lab.link(
            self.app, self.peer, f"{self.APP}/24", f"{self.PEER}/24",
            (f"{self.APP6}/64", f"{self.PEER6}/64"), **link)
        self.options, self.agent = options, None

    def start_agent(self):
        self.agent = Agent(self.app, cases.BUILD, *self.options)
        return self


@contextlib.contextmanager
def pair(*options, agent=True, **link):
    """A Pair of its own for one case."""
    with Lab("net") as lab:
        made = Pair(lab, *options, **link)
        yield made.start_agent() if agent else made


@cases.shared
def common():
    """The Pair that the cases of a module share."""
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
