#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a sample of Node costs while many requests are in flight: microseconds of single runs of `ctxprop profile`'s program, stack
and search for the request included, as the kernel counts them. Exit 1 if the median is above the bar.

    cost.py [--build DIR] [--seconds S] [ROW...]

Runs that end before the next one comes are told apart by looking more often than they come. An interrupt of the machine under a
virtual one is counted, too: so it is the median. Needs root.
"""
import argparse
import contextlib
import os
import statistics
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ("lab", "bench", "profile", "accuracy")]

from bpf import Statistics  # noqa: E402
from needs import missing  # noqa: E402
from profiler import Profiler  # noqa: E402
from rows import ROWS  # noqa: E402
from servers import Scene, Server  # noqa: E402

NAMES = ("Node, await a timer", "Node, promises", "express")
IN_FLIGHT, HZ = 32, 499
CPU = min(os.sched_getaffinity(0))  # of the server; others are not sampled
WANTED_NS = 2000  # a thread that is not wanted takes less
RUNS_AT_LEAST = 100  # less is no distribution
MEDIAN_AT_MOST = 40  # microseconds


@contextlib.contextmanager
def in_time():
    """This thread, which mostly sleeps, waits for no other while this is held, nor disturbs the server."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before - {CPU} or before)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, before)


def runs_of(server, seconds):
    """Microseconds of single samples of the server's process, sorted."""
    for thread in os.listdir(f"/proc/{server.process.pid}/task"):
        os.sched_setaffinity(int(thread), {CPU})
    profiler = Profiler(server.scene.host.spawn, Path(server.scene.build), HZ, "-p", server.process.pid, "--store", "none",
                        "-o", os.devnull, "--format", "folded")
    profiler.sample(False)
    profiler.sample(True, {CPU})
    asking = threading.Thread(target=server.ask, args=(IN_FLIGHT, seconds))
    asking.start()
    try:
        with Statistics(), in_time():
            found = profiler.single_runs(seconds)
    finally:
        asking.join()
        profiler.end()
    return sorted(ns / 1000 for ns in found if ns >= WANTED_NS)


def look(scene, row, seconds):
    """Print a row's line; returns 1 if it takes too long."""
    with Server(scene, row) as server:
        server.warm_up()
        runs = runs_of(server, seconds)
    if len(runs) < RUNS_AT_LEAST:
        print(f"{row.name}: only {len(runs)} samples were met alone", flush=True)
        return 1
    median = statistics.median(runs)
    print(f"{row.name}, {IN_FLIGHT} in flight: {median:.1f} us a sample in the median (bar: {MEDIAN_AT_MOST}),"
          f" {runs[len(runs) * 9 // 10]:.1f} one in ten, of {len(runs)}", flush=True)
    return int(median > MEDIAN_AT_MOST)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--seconds", type=float, default=10, help="of each row (10)")
    parser.add_argument("names", nargs="*", metavar="ROW", help=f"rows of rows.py ({', '.join(NAMES)})")
    args = parser.parse_args()
    rows = [row for row in ROWS if row.name in (args.names or NAMES)]
    failed = 0
    with Scene(os.path.abspath(args.build)) as scene:
        for row in rows:
            if what := missing(row):
                print(f"skip - {row.name}: {what} is not there", flush=True)
            else:
                failed += look(scene, row, args.seconds)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
