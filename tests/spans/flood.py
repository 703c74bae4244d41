#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one node records: requests at a rate, client and server on the same host, two spans each.

    flood.py [--build DIR] [--rate N] [--pipeline N] [--seconds S] [--runs N] [-- OPTION...]

--rate: requests per second, 0: as many as there can be; --pipeline: of each connection at once, up
to 4. What stands behind -- goes to ctxpropd.
Prints what was sent, stored, shed and lost, the processor time of ctxpropd and the bytes of a span
on disk. Exit status 1 if traces are cut that need not be: of each the store has both spans or none,
but for those that were in flight when their turn to be shed came.
"""
import argparse
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from lab import Lab  # noqa: E402
from waiting import wait_until  # noqa: E402

PORT, CONNECTIONS, HEAD, SPANS_OF_ONE = 8000, 64, 200, 2
TRACES = """SELECT count(*), ifnull(sum(spans = 2), 0), ifnull(sum(spans), 0)
    FROM (SELECT count(*) AS spans FROM spans GROUP BY trace_id)"""


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def ask(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchone()


def in_store(path):
    """(traces, those with both spans, spans)"""
    return ask(path, TRACES)


def size_of(path):
    """Bytes, with those that are in the log still."""
    return ask(path, "PRAGMA page_count")[0] * ask(path, "PRAGMA page_size")[0]


def settle(path):
    seen = []

    def stands():
        seen.append(in_store(path))
        time.sleep(0.5)
        return len(seen) > 1 and seen[-1] == seen[-2]

    wait_until(stands, "the last spans", seconds=60)


class Flood:
    """A host with an agent, a server and a client."""

    def __init__(self, lab, build, folder, pipeline, options):
        self.host, self.store = lab.host("node"), folder / "flood.db"
        self.host.spawn([build / "bench_server", PORT])
        self.host.wait_port(PORT)
        self.agent = Agent(self.host, build, "--store", self.store, *options)
        self.load = self.host.spawn([build / "bench_load", "127.0.0.1", PORT, CONNECTIONS, HEAD, 0,
                                     pipeline, 0], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.load.stdout.readline().strip() != "ready":
            raise RuntimeError("bench_load did not come up")

    def send(self, rate, seconds):
        """Returns {"requests": ..., "seconds": ...}"""
        self.load.stdin.write(f"run {seconds * 1000} {rate}\n")
        self.load.stdin.flush()
        return json.loads(self.load.stdout.readline())

    def run(self, rate, seconds):
        """Returns whether traces are whole, after the figures were printed."""
        before, stats, cpu = in_store(self.store), self.agent.stats(), cpu_seconds(self.agent.process)
        sent = self.send(rate, seconds)
        settle(self.store)
        after, now = in_store(self.store), self.agent.stats()
        cpu = cpu_seconds(self.agent.process) - cpu
        shed, lost = (now[name] - stats[name] for name in ("record-shed", "record-lost"))
        traces, whole, spans = (b - a for a, b in zip(before, after))
        cut, made = traces - whole, SPANS_OF_ONE * sent["requests"] - shed
        print(f"sent {sent['requests']} requests in {sent['seconds']:.1f} s "
              f"({SPANS_OF_ONE * sent['requests'] / sent['seconds']:.0f} spans/s), "
              f"p99 {sent['p99_us'] / 1000:.1f} ms\n"
              f"  stored {spans} spans ({spans / sent['seconds']:.0f} /s, "
              f"{100 * spans / (SPANS_OF_ONE * sent['requests']):.1f} %), shed {shed} requests, lost "
              f"{lost} records, {cut} of {traces} traces are cut\n"
              f"  ctxpropd: {cpu:.2f} s of a processor, {1e6 * cpu / made:.1f} us for each of "
              f"{made} spans, {memory_mib(self.agent.process):.0f} MiB; store: "
              f"{size_of(self.store) / max(after[2], 1):.0f} bytes for each span there", flush=True)
        return cut <= CONNECTIONS * 4 + traces // 100


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (build)")
    parser.add_argument("--rate", type=int, default=0, help="requests per second; 0: all there can be")
    parser.add_argument("--pipeline", type=int, default=1, choices=range(1, 5))
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("options", nargs="*", help="of ctxpropd, behind --")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="ctxprop-flood-") as folder, Lab("flood") as lab:
        flood = Flood(lab, Path(args.build).resolve(), Path(folder), args.pipeline, args.options)
        good = [flood.run(args.rate, args.seconds) for _ in range(args.runs)]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
