#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a request costs with ctxprop, without it, and with what else could add the header.

    bench.py [--short] [--markdown] [--build DIR] [--arms none,inject,...]

Needs root, curl, tc, bpftool; iperf3, nginx and haproxy where installed. Prints a table of costs
and the bars of bars.tsv; exit status 1 when a bar is missed, 2 when the bench could not run.
"""
import argparse
import os
import signal
import sys

import report
import start_times
from figures import HEAD, Measured, cost_rows, values
from profile_cost import ProfileCost, off_cpu
from rig import ARMS, Rig
from rounds import Bench

BULK_ARMS = {"inject", "skmsg"}  # alone, bulk TCP has nothing to be compared with
LEGEND = """\
Medians over rounds in which the arms take turns; [first..third quartile]. CPU: processes and
softirqs of everything involved. requests/s, p50, p99: against none, all on one CPU (the rate is per
second in which no other program had that CPU). BPF: one run of the program, less what an empty
program reads there, which stands in the rows of none. follow: agents at the client and at the
server, the request is a call of the one and served by the other; BPF ns/request with all probes.
spans: the same, and both store its span, as far as they can keep up (its CPU is theirs, too).
profile: as none, and all CPUs are sampled 99 times a second. own: without ctxprop, the client sends
70 bytes more itself; own-two: in two packets, as on the wire."""


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("--short", action="store_true", help="about a minute instead of several")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    parser.add_argument("--arms", default=",".join(ARMS), help="which arms, \"none\" always")
    parser.add_argument("--cpu", type=int, default=os.cpu_count() - 1,
                        help="the CPU that everything runs on (default: the last)")
    return parser.parse_args()


def progress(what):
    """What is being measured, on standard error: standard output is for the tables."""
    print(f"bench: {what}", file=sys.stderr, flush=True)


def run_times_are_counted():
    """Does the kernel read the clock twice in each run of a program? That is CPU time, too."""
    with open("/proc/sys/kernel/bpf_stats_enabled", encoding="ascii") as file:
        return file.read().strip() != "0"


def measure(rig, short):
    """All that bars.tsv asks for, as Measured."""
    bench = Bench(rig, rounds=4 if short else 15, milliseconds=120 if short else 300,
                  progress=progress)
    bench.check_arms()
    measured = Measured(bench.requests_cost(), bench.bulk() if rig.bulk and rig.arms.keys() & BULK_ARMS else {})
    if "inject" in rig.arms:
        measured.times = bench.bpf_times()
        measured.many_flows = bench.many_flows()
        measured.many_rules = bench.many_rules()
        measured.agent = bench.agent_paced(2 if short else 5)
    if "follow" in rig.arms:
        measured.follow = bench.follow_times()
    if "follow" in rig.arms and "spans" in rig.arms:
        measured.spans = bench.spans_times()
        measured.stored = bench.stored(3 if short else 10)
    if "profile" in rig.arms:
        measured.profile = ProfileCost(rig, short, progress).values()
    return measured


def main():
    given = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the namespaces are to go then, too
    wanted = [arm for arm in ARMS if arm in ("none", *given.arms.split(","))]
    try:
        with Rig(given.build, given.cpu, wanted) as rig:
            measured = measure(rig, given.short)
        if "profile" in wanted and not given.short:
            progress("switches of threads without context, off-CPU")
            measured.profile |= off_cpu(given.build)
        if "follow" in wanted:
            measured.start = start_times.values(given.build, given.short, progress)
    except RuntimeError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    rows, missed = report.verdict(values(measured), given.short)
    print(report.table(HEAD, cost_rows(measured), given.markdown), LEGEND, sep="\n\n", end="\n\n")
    print(report.table(["bar", "limit", "measured", ""], rows, given.markdown))
    if run_times_are_counted():
        print("kernel.bpf_stats_enabled is not 0: CPU/request is some 50 ns too high for each run "
              "of a BPF program")
    for arm, reason in rig.missing.items():
        print(f"skipped: arm {arm}: {reason}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
