#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests through netem: loss, duplication and reordering made by the kernel itself.

The chaos client and server of tests/chaos stand in two namespaces joined by a veth pair, ctxpropd
in the client's. Every request must arrive byte for byte, with one traceparent header.

    netem_sweep.py --build BUILD [--attach clsact|tcx] [--requests N] [--only TEXT] [--no-agent]

Exit code: 0, 1 if a case failed, 77 where the kernel has no netem.
"""
import argparse
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from sweep import Failed, run_case, send  # noqa: E402

SKIP_STATUS = 77
PORT = 8080
CLIENT, SERVER = {4: "10.66.0.1", 6: "fd66::1"}, {4: "10.66.0.2", 6: "fd66::2"}

# What cases change, as it is by default.
SYSCTLS = {"net.ipv4.tcp_sack": 1, "net.ipv4.tcp_timestamps": 1}
OFFLOADS = ("tso", "gso", "gro", "tx")

# netem: its arguments, for both directions; mode: of the client; ip: 4 or 6; offloads: of both
# devices; sysctls: of both ends, where they differ from SYSCTLS.
# upgrades: the client offers upgrades and opens tunnels, too; where an answer to such a request comes
# out of order, the agent lets the connection be, so that not every request gets its header.
Case = namedtuple("Case", "name netem mode ip mtu offloads sysctls upgrades",
                  defaults=(4, 1500, True, {}, False))

MIXED = "delay 2ms 1ms loss 1% duplicate 2% reorder 10% 50%"
CASES = (
    Case("no trouble", "delay 0ms", "new"),
    Case("loss", "loss 3%", "keep"),
    Case("bursts of loss", "loss gemodel 1% 20%", "pipeline"),
    Case("duplication", "duplicate 5%", "new"),
    Case("reordering", "delay 2ms reorder 25% 50%", "pipeline"),
    Case("all", MIXED, "keep"),
    Case("all, upgrades", MIXED, "keep", upgrades=True),
    Case("all, no offloads", MIXED, "pipeline", offloads=False),
    Case("all, IPv6", MIXED, "keep", ip=6),
    Case("all, MTU 576", MIXED, "new", mtu=576),
    Case("all, IPv6, MTU 1280, no offloads", MIXED, "pipeline", ip=6, mtu=1280, offloads=False),
    Case("all, no SACK", MIXED, "keep", sysctls={"net.ipv4.tcp_sack": 0}),
    Case("all, no timestamps", MIXED, "pipeline", sysctls={"net.ipv4.tcp_timestamps": 0}),
)


class Rig:
    """The two hosts, their link, the server and the agent, which live through all cases."""

    def __init__(self, lab, args):
        self.args = args
        self.client, self.server = self.hosts = lab.host("client"), lab.host("server")
        self.devices = lab.link(*self.hosts, CLIENT[4] + "/24", SERVER[4] + "/24")
        self.server.spawn([args.build / "tests/chaos/server", "--port", PORT, "--quiet"],
                          stdout=subprocess.DEVNULL)
        self.server.wait_port(PORT)
        self.keep_link_busy()
        self.agent = None
        if not args.no_agent:
            self.agent = Agent(self.client, args.build, "--attach", args.attach)

    def keep_link_busy(self):
        """netem's bursts of loss end with packets, not with time: after the last but one connection is
        done, one burst could take each of seven copies that TCP sends within 30 s."""
        self.client.spawn(["ping", "-q", "-i", "0.01", SERVER[4]], stdout=subprocess.DEVNULL)

    def set_link(self, case):
        """Make the link as bad as the case wants it; nothing stays of the case before."""
        onoff = "on" if case.offloads else "off"
        for host, device, address in zip(self.hosts, self.devices, (CLIENT, SERVER)):
            host.run(["ip", "link", "set", device, "mtu", case.mtu])
            if case.ip == 6:  # an MTU below 1280 has taken the address away
                host.run(["ip", "addr", "replace", address[6] + "/64", "dev", device, "nodad"])
            host.run(["sysctl", "-qw", *(f"{k}={v}" for k, v in (SYSCTLS | case.sysctls).items())])
            host.run(["ethtool", "-K", device, *(w for name in OFFLOADS for w in (name, onoff))])
            host.run(["tc", "qdisc", "replace", "dev", device, "root", "netem", "limit", 10000,
                      *case.netem.split()])

    def run(self, case):
        """Send the requests of a case; returns the client's line of counts."""
        self.set_link(case)
        args = self.args
        said = send(self.client, args.build, SERVER[case.ip], "--port", PORT,
                    "--requests", args.requests, "--mode", case.mode, "--bodies", args.bodies,
                    "--seed", args.seed + CASES.index(case),
                    "--expect", "none" if args.no_agent else "atmost" if case.upgrades else "one",
                    *([] if case.upgrades else ["--plain"]), seconds=args.seconds)
        if self.agent and self.agent.process.poll() is not None:
            raise Failed(f"ctxpropd ended:\n{self.agent.said()}")
        return said

    def stats(self):
        """What the agent counted."""
        return self.agent.command("stats", check=False) if self.agent else ""


def sweep(cases, args):
    """Run the cases and print a line for each; returns how many failed."""
    with Lab("netem") as lab:
        rig = Rig(lab, args)
        failed = sum(not run_case(case.name, rig.run, case) for case in cases)
        if failed:
            print(rig.stats())
    return failed


def netem_missing():
    """Why there is no netem here, or None."""
    with Lab("netem") as lab:
        host = lab.host("probe")
        done = host.run(["tc", "qdisc", "add", "dev", "lo", "root", "netem"], check=False)
        return done.stderr.strip() if done.returncode else None


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--attach", default="auto", help="as of ctxpropd (auto)")
    parser.add_argument("--requests", type=int, default=200, help="in each case (200)")
    parser.add_argument("--seconds", type=int, default=120, help="limit for each case (120)")
    parser.add_argument("--bodies", type=int, default=100000, help="largest body in bytes (100000)")
    parser.add_argument("--seed", type=int, default=1, help="of the first case's requests (1)")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name contains TEXT")
    parser.add_argument("--no-agent", action="store_true", help="the link alone, nothing injected")
    return parser.parse_args(argv)


def main(argv):
    args = parse(argv)
    missing = netem_missing()
    if missing:
        print(f"no netem: {missing}")
        return SKIP_STATUS
    cases = [case for case in CASES if args.only in case.name]
    try:
        failed = sweep(cases, args)
    except (Failed, RuntimeError) as error:
        print(error)
        return 1
    print(f"{len(cases) - failed} of {len(cases)} cases ok")
    return int(failed > 0 or not cases)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
