#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests through netem: loss, duplication and reordering made by the kernel itself.

The chaos client and server of tests/chaos stand in two namespaces joined by a veth pair, ctxpropd
in the client's. Every request must arrive byte for byte, with one traceparent header, in every case.

    netem_sweep.py --build BUILD [--attach clsact|tcx] [--requests N] [--only TEXT] [--no-agent]

Exit code: 0, 1 if a case failed, 77 where the kernel has no netem.
"""
import argparse
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from lab import Lab  # noqa: E402

SKIP_STATUS = 77
PORT = 8080
CLIENT, SERVER = {4: "10.66.0.1", 6: "fd66::1"}, {4: "10.66.0.2", 6: "fd66::2"}
READY_SECONDS = 30

# netem: its arguments, for both directions; mode: of the client; ip: 4 or 6; sysctls: of both ends.
Case = namedtuple("Case", "name netem mode ip mtu offloads sysctls", defaults=(4, 1500, True, ()))

MIXED = "delay 2ms 1ms loss 1% duplicate 2% reorder 10% 50%"
CASES = (
    Case("no trouble", "delay 0ms", "new"),
    Case("loss", "loss 3%", "keep"),
    Case("bursts of loss", "loss gemodel 1% 20%", "pipeline"),
    Case("duplication", "duplicate 5%", "new"),
    Case("reordering", "delay 2ms reorder 25% 50%", "pipeline"),
    Case("all", MIXED, "keep"),
    Case("all, no offloads", MIXED, "pipeline", offloads=False),
    Case("all, IPv6", MIXED, "keep", ip=6),
    Case("all, MTU 576", MIXED, "new", mtu=576),
    Case("all, IPv6, MTU 1280, no offloads", MIXED, "pipeline", ip=6, mtu=1280, offloads=False),
    Case("all, no SACK", MIXED, "keep", sysctls=("net.ipv4.tcp_sack=0",)),
    Case("all, no timestamps", MIXED, "pipeline", sysctls=("net.ipv4.tcp_timestamps=0",)),
)


class Failed(Exception):
    """A case went wrong; the text says how."""


def set_up(lab, case):
    """The two hosts and the bad link between them."""
    client, server = lab.host("client"), lab.host("server")
    devices = lab.link(client, server, CLIENT[4] + "/24", SERVER[4] + "/24", mtu=case.mtu)
    for host, device, address in zip((client, server), devices, (CLIENT, SERVER)):
        if case.ip == 6:
            host.run(["ip", "addr", "add", address[6] + "/64", "dev", device, "nodad"])
        for setting in case.sysctls:
            host.run(["sysctl", "-qw", setting])
        if not case.offloads:
            host.run(["ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off", "tx", "off"])
        host.run(["tc", "qdisc", "add", "dev", device, "root", "netem", "limit", "10000",
                  *case.netem.split()])
    return client, server


def start_agent(host, args):
    """ctxpropd in the client's namespace, until it says that it is ready."""
    log = open(args.log, "w+", encoding="utf-8")
    agent = host.spawn([args.build / "ctxpropd", "--attach", args.attach], stdout=log, stderr=log)
    end = time.monotonic() + READY_SECONDS
    while "ready" not in args.log.read_text():
        if agent.poll() is not None or time.monotonic() > end:
            raise Failed(f"ctxpropd is not ready:\n{args.log.read_text()}")
        time.sleep(0.1)
    return agent


def run_client(host, case, args):
    """Send the requests; the client's line of counts."""
    argv = [args.build / "tests/chaos/client", "--connect", SERVER[case.ip], "--port", PORT,
            "--requests", args.requests, "--mode", case.mode, "--bodies", args.bodies,
            "--seed", args.seed, "--stuck", 60, "--expect", "none" if args.no_agent else "one"]
    done = host.run(argv, check=False)
    if done.returncode:
        raise Failed(f"client: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def run_case(case, args):
    with Lab("netem") as lab:
        client, server = set_up(lab, case)
        server.spawn([args.build / "tests/chaos/server", "--port", PORT, "--quiet"],
                     stdout=subprocess.DEVNULL)
        server.wait_port(PORT)
        agent = None if args.no_agent else start_agent(client, args)
        counts = run_client(client, case, args)
        if agent and agent.poll() is not None:
            raise Failed(f"ctxpropd ended: {agent.returncode}\n{args.log.read_text()}")
        return counts


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
    parser.add_argument("--bodies", type=int, default=100000, help="largest body in bytes (100000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name contains TEXT")
    parser.add_argument("--no-agent", action="store_true", help="the link alone, nothing injected")
    parser.add_argument("--log", type=Path, default=Path("/tmp/netem_sweep.ctxpropd.log"))
    return parser.parse_args(argv)


def main(argv):
    args = parse(argv)
    missing = netem_missing()
    if missing:
        print(f"no netem: {missing}")
        return SKIP_STATUS
    cases = [case for case in CASES if args.only in case.name]
    failed = 0
    for case in cases:
        start = time.monotonic()
        try:
            verdict, said = "ok", run_case(case, args)
        except Failed as error:
            verdict, said, failed = "FAIL", str(error), failed + 1
        print(f"{verdict:5}{case.name:34}{time.monotonic() - start:6.1f} s  {said}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} cases ok")
    return int(failed > 0 or not cases)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
