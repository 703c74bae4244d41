#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does `ctxprop profile --off-cpu` tell where the time of a request goes? Servers in C, Python and Java burn CPU,
sleep, wait for a lock and ask an upstream server: what is told has to add up to what the client has measured,
less the request's way to its thread, and each wait to what the server has. Of servers in Ruby, Go and Node, which
only burn and sleep, it is shown how much is told; no request may be told more than it took.

    offcpu.py [--build DIR] [ROW...]
"""
import argparse
import contextlib
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from agent import Agent  # noqa: E402
from judge import read_truth  # noqa: E402
from lab import Lab  # noqa: E402
from load import Load  # noqa: E402
from offcpu_cost import OffCpu, run_cost  # noqa: E402
from pprof import Profile  # noqa: E402
from sampling import ADDRESS, CPU_US, GOES, PORT, tell, wait_until_said, world  # noqa: E402

CONNECTIONS, REQUESTS = 4, 12
CLIENT, UPSTREAM_PORT, UPSTREAM_SECONDS = "10.79.0.1", 9000, 0.06
PAUSE_SECONDS = 0.06  # between requests; a request that had that, too, would be seen
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
TYPES = [("samples", "count"), ("cpu", "nanoseconds"), ("offcpu", "nanoseconds")]

# Of the time of all requests together, as the client and the server have measured it.
DIFFERENCE = 0.02
# Of a single request: a few samples more or less; a third of the pause between two requests.
DIFFERENCE_NS = 20_000_000
WHOLE_AT_LEAST = 0.99
STAGES = ("take_nap", "take_lock", "hold_lock", "ask_upstream")

def camel(stage):
    """take_nap: takeNap"""
    first, *others = stage.split("_")
    return first + "".join(map(str.capitalize, others))


# function: what a stage's function is called. stages: in which it waits. is_exact: each thread serves one request
# from its beginning to its end, so that all of its time is told. awaits: as in sampling.py
Row = namedtuple("Row", "name server function stages is_exact awaits", defaults=(STAGES, True, ""))
NAP = STAGES[:1]
ROWS = (
    Row("C", ["{build}/profile_burn"], str),
    Row("Python", ["/usr/bin/python3", "-B", "{here}/burn.py"], "{} (burn.py)".format),
    Row("Java", ["java", "-Xmx64m", "-XX:TieredStopAtLevel=1", "{here}/BurnWait.java"],
        lambda stage: f"BurnWait.{camel(stage)} (BurnWait.java)"),
    Row("Ruby", ["/usr/bin/ruby", "{here}/burn.rb"], "Object#{} (burn.rb)".format, NAP, False),
    Row("Go", ["{build}/profile_burn_go"], lambda stage: f"main.{camel(stage)}", NAP, False, GOES),
    Row("Node", ["/usr/bin/node", "{here}/burn.js"], lambda stage: f"{camel(stage)} (burn.js)", NAP, False),
)


def answer(connection):
    """One request, answered late."""
    with connection:
        connection.recv(4096)
        time.sleep(UPSTREAM_SECONDS)
        connection.sendall(ANSWER)


def upstream(host):
    """A server that takes its time, on a host, until the test ends."""
    with host.inside():
        listener = socket.create_server((CLIENT, UPSTREAM_PORT))

    def serve():
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()


@contextlib.contextmanager
def at_once():
    """This thread, and those that it begins, run as soon as they can: how long the client waits for a CPU when
    the answer is there is nothing that the server could know of."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    yield
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def measure(build, row, folder, lab):
    """(the profile, the requests, the server's truth) of a row."""
    server, client = world(lab)
    upstream(client)
    agent = Agent(server, build, "--store", f"{folder}/store.db")
    argv = [word.format(build=build, here=HERE) for word in row.server]
    process = server.spawn([*argv, PORT, f"{folder}/truth"])
    server.wait_port(PORT)
    load = Load(client, ADDRESS, PORT, CPU_US, action="/wait", pause=PAUSE_SECONDS)
    for connection in load.run(1, 1):  # so that the process is known
        connection.close()
    if row.awaits:
        wait_until_said(agent, process.pid, row.awaits)
    profiled = OffCpu(server, build, "-p", process.pid, "--ids", "--store", f"{folder}/store.db", "-o",
                      f"{folder}/profile.pb.gz")
    for connection in load.run(1, 5):  # the profiler reads tables of what it has met
        connection.close()
    load.requests.clear()
    with at_once():
        for connection in load.run(CONNECTIONS, REQUESTS):
            connection.close()
    print(profiled.end(), end="")
    return Profile(f"{folder}/profile.pb.gz"), load.requests, read_truth(f"{folder}/truth")


class Times:
    """What a profile tells of requests, in ns."""

    def __init__(self, profile, requests):
        mine = {request.trace for request in requests}
        self.kinds, self.functions, self.traces, self.strange = Counter(), Counter(), Counter(), Counter()
        self.queued = Counter()  # of self.traces, what was spent on the run queue
        self.cut_ns = 0
        for sample in profile.samples:
            ns, trace = sample.ns + sample.off_ns, sample.labels.get("trace_id")
            self.strange["values"] += (sample.off_ns > 0) != ("wait" in sample.labels)
            self.strange["wait without a request"] += "wait" in sample.labels and not trace
            if trace not in mine:
                continue
            self.kinds[sample.labels.get("wait", "cpu")] += ns
            self.traces[trace] += ns
            self.queued[trace] += ns if sample.labels.get("wait") == "run queue" else 0
            self.cut_ns += "stack" in sample.labels and ns
            for function in set(sample.functions):
                self.functions[function] += ns

    def whole(self):
        """The share of time whose stacks are known to their end."""
        return 1 - self.cut_ns / max(sum(self.kinds.values()), 1)


def differs(what, told, truth, allowed=DIFFERENCE):
    """A complaint, or nothing; prints both."""
    print(f"# {what}: {told / 1e6:.1f} ms told, {truth / 1e6:.1f} ms measured: {100 * told / truth:.2f} %")
    return [f"{what}: {told} ns of {truth}"] * (abs(told - truth) > allowed * truth)


def complaints_of(row, profile, requests, truth):
    """What is wrong with a profile."""
    times, ids = Times(profile, requests), {request.id for request in requests}
    kinds = ", ".join(f"{kind} {ns / 1e6:.1f} ms" for kind, ns in sorted(times.kinds.items()))
    print(f"# {row.name}: {len(requests)} requests: {kinds}; {100 * times.whole():.2f} % have a whole stack")
    read = {work.id: work.start for work in reversed(truth)}
    worst = sorted(requests, key=lambda r: times.traces[r.trace] - (r.received - read[r.id]))[:3]
    print("# least told: " + ", ".join(
        f"{r.id} {times.traces[r.trace] / 1e6:.1f} of {(r.received - read[r.id]) / 1e6:.1f} ms" for r in worst))
    way = [read[r.id] - r.sent for r in requests]
    print(f"# on the way to a thread that runs: {sum(way) / 1e6:.1f} ms, {max(way) / 1e6:.1f} ms at most")
    # What a server does between the request's first byte and its work is told, and not measured.
    told, least = sum(times.kinds.values()), sum(r.received - read[r.id] for r in requests)
    most = least + sum(way)
    found = differs("all", told, min(max(told, least), most))
    print(f"# of what the client has measured: {100 * told / most:.2f} %, without that way {100 * told / least:.2f} %")
    for stage in row.stages:
        spent = sum(w.end - w.start for w in truth if w.id and "." in w.id and w.id.split(".")[1] == stage and
                    w.id.split(".")[0] in ids)
        found += differs(stage, times.functions[row.function(stage)], spent)
    found = found if row.is_exact else []
    # A thread that has answered may have to wait for a CPU before it is done with the request.
    found += [f"{r.id} took {r.received - r.sent} ns, told are {times.traces[r.trace]}, on the run queue {times.queued[r.trace]}"
              for r in requests
              if times.traces[r.trace] - times.queued[r.trace] > (r.received - r.sent) * (1 + DIFFERENCE) + DIFFERENCE_NS]
    found += [f"{count} samples: {what}" for what, count in times.strange.items() if count]
    found += ["less of it has a whole stack"] * (row.is_exact and times.whole() < WHOLE_AT_LEAST)
    return found + [f"values are {profile.types}"] * (profile.types != TYPES)


def run_row(build, row):
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as folder, Lab("offcpu") as lab:
        found = complaints_of(row, *measure(build, row, folder, lab))
    return tell(f"time of requests of {row.name}", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin; cost is one, too")
    args = parser.parse_args()
    build, wanted = os.path.abspath(args.build), tuple(name.lower() for name in args.names)
    failed = 0
    for row in ROWS:
        if wanted and not row.name.lower().startswith(wanted):
            continue
        if not shutil.which(row.server[0].format(build=build)):
            print(f"ok - time of requests of {row.name} # SKIP {row.server[0]} is not there")
            continue
        failed += run_row(build, row)
    if not wanted or "cost" in wanted:
        failed += run_cost(build)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
