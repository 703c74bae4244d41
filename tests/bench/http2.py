#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What HTTP/2 costs with `ctxpropd --http2`: how many requests get a header with 1, 10 and 100 streams in flight on one
connection, and the CPU that is added for each; BPF time of a packet of DATA that is passed over, and of any packet while no edits are made.

    http2.py [--build DIR] [--rounds N] [--requests N]

The arms take turns; the figure is the median over the rounds, of the whole, h2load and nghttpd included. Needs root, h2load and
nghttpd; exit status 1 if a bar is missed, 2 if nothing could be measured.
"""
import argparse
import json
import os
import re
import shutil
import signal
import sys

import bpf
import report
from figures import spread
from rig import Rig
from rounds import Bench, rotated

PORT = 8443
STREAMS = (1, 10, 100)
BIG = 16 << 20  # bytes of a request's body
WINDOW = "30"   # bits of what a server lets its clients send
# key: (sign, limit, unit, what)
BARS = {f"share_{streams}": (">=", 0.99, "", f"requests that get a header, {streams} in flight") for streams in STREAMS} | {
    f"added_{streams}": ("<=", 1.5, "us", f"CPU added for each header, {streams} in flight") for streams in STREAMS} | {
    "data": ("<=", 80, "ns", "BPF time per outbound packet of DATA"),
    "paused": ("<=", 40, "ns", "BPF time per packet of a request, while no edits are made")}


class Http2Bench:
    """Requests by h2load to a nghttpd on the rig's server."""

    def __init__(self, rig, rounds, requests):
        self.rig, self.rounds, self.requests = rig, rounds, requests
        self.bench = Bench(rig, rounds, 0, progress)
        folder = rig.scratch / "http2"
        folder.mkdir()
        (folder / "a").write_text("ok\n")
        self.big = rig.scratch / "big"
        self.big.write_bytes(bytes(BIG))
        rig.upstream.spawn(["nghttpd", "--no-tls", "-w", WINDOW, "-W", WINDOW, "-d", folder, PORT],
                           preexec_fn=rig.placed(rig.cgroup_apps))
        rig.upstream.wait_port(PORT)

    def ask(self, arm, requests, streams=1, *words):
        """So many requests on one connection, all of which succeed. Returns how many."""
        arm.ready()
        said = arm.run(["h2load", "-n", requests, "-c", 1, "-m", streams, *words, f"http://{arm.address}:{PORT}/a"])
        if not re.search(rf"\b{requests} succeeded, 0 failed, 0 errored", said):
            raise RuntimeError(f"arm {arm.name}:\n{said}")
        return requests

    def upload(self, arm):
        return self.ask(arm, 4, 1, "-d", self.big)

    def injected(self):
        """Headers that the agent has added so far."""
        said = self.rig.watched.run([self.rig.build / "ctxprop", "stats", "--json"]).stdout
        return sum(group.get("injected", 0) for group in json.loads(said).values())

    def added(self, streams):
        """(the part of the requests that get a header, CPU microseconds that are added for each: per round)"""
        progress(f"{streams} in flight")
        costs = {name: [] for name in ("none", "inject")}
        before = self.injected()
        for number in range(self.rounds + 1):
            for name in rotated(list(costs), number):
                start = self.bench.cpu_us()
                self.ask(self.rig.arms[name], self.requests, streams)
                costs[name].append((self.bench.cpu_us() - start) / self.requests)
        share = (self.injected() - before) / (self.rounds + 1) / self.requests
        if not share:
            raise RuntimeError("no request has got a header")
        # The first round warms caches.
        return share, [(a - b) / share for a, b in zip(costs["inject"][1:], costs["none"][1:])]

    def times(self, work):
        """BPF times of what the arms do, less what empty programs take: BpfSamples of each round."""
        arms = [self.rig.arms[name] for name in ("none", "inject")]
        found = []
        with bpf.Statistics(), self.rig.empty_programs() as empty:
            for _ in range(self.rounds):
                nothing, ours = self.bench.bpf_pair(empty, [lambda arm=arm: work(arm) for arm in arms])
                found.append(ours.less(nothing))
        return found

    def values(self):
        """{key of a bar: (median, first and third quartile)}"""
        found = {}
        for streams in STREAMS:
            share, added = self.added(streams)
            found |= {f"share_{streams}": (share,) * 3, f"added_{streams}": spread(added)}
        progress("DATA")
        with self.rig.packet_by_packet(quickack=1):
            found["data"] = spread([sample.out_ns for sample in self.times(self.upload)])
        progress("paused")
        self.rig.arms["inject"].paused = True
        found["paused"] = spread([sample.packet_ns for sample in
                                  self.times(lambda arm: self.ask(arm, self.requests, 10))])
        return found


def progress(what):
    print(f"http2: {what}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--requests", type=int, default=20000, help="of each arm in a round")
    return parser.parse_args()


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the namespaces are to go then, too
    os.environ["PATH"] += ":/usr/sbin"
    missing = [name for name in ("h2load", "nghttpd") if not shutil.which(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} (package nghttp2) is not there")
        return 77
    try:
        with Rig(args.build, os.cpu_count() - 1, ["none", "inject"], words=["--http2"]) as rig:
            found = Http2Bench(rig, args.rounds, args.requests).values()
    except RuntimeError as error:
        print(f"http2: {error}", file=sys.stderr)
        return 2
    rows, missed = [], 0
    for key, (sign, limit, unit, what) in BARS.items():
        met = found[key][0] <= limit if sign == "<=" else found[key][0] >= limit
        rows.append([what, f"{sign} {limit} {unit}".strip(), report.with_spread(found[key]), "met" if met else "MISSED"])
        missed += not met
    print(report.table(["bar", "limit", "measured", ""], rows, False))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
