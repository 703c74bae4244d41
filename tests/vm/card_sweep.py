#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests through network cards (cards.py) and their drivers, sent or forwarded.

The chaos client stands in the namespace "gate", or in "near", whose packets go through "gate" from
one card to another; the server in "far", ctxpropd in "gate". Every request must arrive byte for
byte, with one traceparent header.

    card_sweep.py --build BUILD [--short] [--requests N] [--only TEXT] [--no-agent]

Exit code: 0, 1 if a case failed, 77 where there are no such cards.
"""
import argparse
import json
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from agent import Agent  # noqa: E402
import cards  # noqa: E402
from lab import Lab, sh  # noqa: E402
from sweep import Failed, run_case, send  # noqa: E402

SKIP_STATUS = 77
PORT = 8080
OFFLOADS = ("tso", "gso", "gro", "tx")

VLAN = 5
# Cards lose packets when they come too fast (seen with the 8139), and no header is added to a head of
# which the gate has seen a later part first: so many of 100 forwarded requests may have none.
PERCENT_WITHOUT = 5

# into: the pair by which the gate gets requests from "near", None: it sends them itself; out: the
# pair by which it sends them; ip: 4 or 6; offloads: of the cards of `out`; vlan: tagged there.
Case = namedtuple("Case", "into out mode ip offloads vlan", defaults=(4, True, False))

NAMES = [pair.name for pair in cards.PAIRS]
CASES = (
    *(Case(None, name, *how) for name in NAMES
      for how in (("pipeline", 6), ("keep",), ("new", 4, False), ("keep", 4, True, True))),
    *(Case(into, out, *how)
      for into, out in (("e1000", "virtio"), ("virtio", "e1000e"), ("vmxnet3", "8139"),
                        ("8139", "virtio-plain"), ("e1000e", "vmxnet3"))
      for how in (("keep",), ("pipeline", 6))),
)


def is_short(case):
    """Does the case belong to the short sweep: each card once, and each two cards?"""
    return case.ip == (4 if case.into else 6)


def title(case):
    """What a case is called."""
    way = f"{case.into} to {case.out}" if case.into else case.out
    more = ("" if case.offloads else ", no offloads") + (", VLAN" if case.vlan else "")
    return f"{way}, {case.mode}, IPv{case.ip}{more}"


def numbered(name, side, ip, vlan=False):
    """The address of a card, or of the VLAN device on it, without prefix."""
    net = NAMES.index(name) + (100 if vlan else 0)
    return f"10.66.{net}.{side}" if ip == 4 else f"fd66:{net}::{side}"


def prepare(host, device, name, side, vlan=False):
    """Give a device its addresses and take it up."""
    for prefix, ip, how in (("/24", 4, []), ("/64", 6, ["nodad"])):
        host.run(["ip", "addr", "add", numbered(name, side, ip, vlan) + prefix, "dev", device, *how])
    host.run(["ip", "link", "set", device, "up"])


class Rig:
    """The hosts, the cards among them, the server and the agent, which live through all cases."""

    def __init__(self, lab, args):
        self.args = args
        self.near, self.gate, self.far = (lab.host(name) for name in ("near", "gate", "far"))
        self.places = {}
        self.devices = find_cards()
        for key in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
            self.gate.sysctl(key, 1)
        self.far.spawn([args.build / "tests/chaos/server", "--port", PORT, "--quiet"],
                       stdout=subprocess.DEVNULL)
        self.far.wait_port(PORT)
        self.agent = None if args.no_agent else Agent(self.gate, args.build)

    def place(self, name, *hosts):
        """Put the cards of a pair into two hosts, ready to use."""
        for side, host in zip(cards.SIDES, hosts):
            device = self.devices[name, side]
            if self.places.get((name, side)) != host:
                self.move(name, side, host)
            if host is self.gate and self.agent:
                self.agent.wait_attached(device)

    def move(self, name, side, host):
        device, before = self.devices[name, side], self.places.get((name, side))
        argv = ["ip", "link", "set", device, "netns", host.netns]
        if before:
            before.run(argv)
        else:
            sh(*argv)
        self.places[name, side] = host
        prepare(host, device, name, side)

    def tag(self, name):
        """VLAN devices on the cards of a pair that has been placed."""
        for side in cards.SIDES:
            host, below = self.places[name, side], self.devices[name, side]
            device = f"{below}.{VLAN}"
            host.run(["ip", "link", "add", "link", below, "name", device, "type", "vlan", "id", VLAN])
            prepare(host, device, name, side, vlan=True)

    def set_offloads(self, name, on):
        for side in cards.SIDES:
            words = [word for what in OFFLOADS for word in (what, "on" if on else "off")]
            self.places[name, side].run(["ethtool", "-K", self.devices[name, side], *words])

    def route(self, case):
        """Between "near" and "far", through the gate."""
        for host, other, by, side in ((self.near, case.out, case.into, 2),
                                      (self.far, case.into, case.out, 1)):
            net = numbered(other, 0, case.ip) + ("/24" if case.ip == 4 else "/64")
            host.run(["ip", f"-{case.ip}", "route", "replace", net, "via",
                      numbered(by, side, case.ip)])

    def run(self, case):
        """Send the requests of a case; returns the client's line of counts."""
        args, client = self.args, self.near if case.into else self.gate
        self.place(case.out, self.gate, self.far)
        self.set_offloads(case.out, case.offloads)
        if case.vlan:
            self.tag(case.out)
        if case.into:
            self.place(case.into, self.near, self.gate)
            self.set_offloads(case.into, True)
            self.route(case)
        address = numbered(case.out, 2, case.ip, case.vlan)
        expect = "none" if args.no_agent else "atmost" if case.into else "one"
        said = send(client, args.build, address, "--port", PORT, "--plain",
                    "--requests", args.requests, "--mode", case.mode, "--bodies", args.bodies,
                    "--seed", CASES.index(case), "--expect", expect, seconds=args.seconds)
        without = int(re.search(r"skipped=(\d+)", said)[1])
        if without * 100 > args.requests * PERCENT_WITHOUT:
            raise Failed(f"too many requests without a header: {said}")
        if self.agent and self.agent.process.poll() is not None:
            raise Failed(f"ctxpropd ended:\n{self.agent.said()}")
        return said


def find_cards():
    """{(name of the pair, side): device} of the cards that are in this namespace."""
    for pair in cards.PAIRS:
        sh("modprobe", pair.driver)
    links = {link["address"]: link["ifname"] for link in json.loads(sh("ip", "-j", "link"))}
    return {(pair.name, side): links[cards.address(pair, side)] for pair in cards.PAIRS for side in cards.SIDES
            if cards.address(pair, side) in links}


def sweep(cases, args):
    """Run the cases and print a line for each; returns how many failed."""
    with Lab("cards") as lab:
        rig = Rig(lab, args)
        failed = sum(not run_case(title(case), rig.run, case) for case in cases)
        if failed and rig.agent:
            print(rig.agent.command("stats", check=False))
    return failed


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--requests", type=int, default=100, help="in each case (100)")
    parser.add_argument("--seconds", type=int, default=120, help="limit for each case (120)")
    parser.add_argument("--bodies", type=int, default=100000, help="largest body in bytes (100000)")
    parser.add_argument("--short", action="store_true", help="few cases: each card, and each two, once")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name contains TEXT")
    parser.add_argument("--no-agent", action="store_true", help="the cards alone, nothing injected")
    return parser.parse_args(argv)


def main(argv):
    args = parse(argv)
    cases = [case for case in CASES
             if args.only in title(case) and (is_short(case) or not args.short)]
    if len(find_cards()) < len(cards.PAIRS) * len(cards.SIDES):
        print("no such cards: this is for the guests of vm.py")
        return SKIP_STATUS
    failed = sweep(cases, args)
    print(f"{len(cases) - failed} of {len(cases)} cases ok")
    return int(failed > 0 or not cases)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
