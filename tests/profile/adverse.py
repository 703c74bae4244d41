#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does traces_ctx_v1 stay right while programs do their worst: threads that end in the middle of a request, children,
programs that become others, signals? As sampling.py, which see.

    adverse.py [--build DIR] [ROW...]
"""
import argparse
import os
import sys
import tempfile
import time
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

import bpf_map  # noqa: E402
import judge  # noqa: E402
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from load import Load  # noqa: E402
from sampling import ADDRESS, CPU_US, PIN, PORT, Sampler, tell, world  # noqa: E402
from waiting import wait_until  # noqa: E402

CONNECTIONS, REQUESTS = 4, 10
CHILD_SAMPLES = 100  # less is no measurement
LINGER_SECONDS = 0.05  # for whoever has not ended by then


class AdverseLoad(Load):
    """Requests of which some are never answered: those of threads that end, and of programs that become others."""

    def __init__(self, client, truth):
        super().__init__(client, ADDRESS, PORT, CPU_US)
        self.truth, self.restarts = Path(truth), 0

    def read_answer(self, connection, name):
        if self.action == "/exit":
            wait_until(lambda: f" {name}\n" in self.truth.read_text(), f"{name} is not worked on")
            time.sleep(LINGER_SECONDS)
        elif self.action == "/again":
            assert not connection.recv(1), "it should become another program"
            self.restarts += 1
            wait_until(lambda: self.started() == self.restarts, "the other program does not begin")
        else:
            super().read_answer(connection, name)

    def started(self):
        """How often a program has begun, and worked in its first thread."""
        return sum(words[0] == words[1] for words in map(str.split, self.truth.read_text().splitlines()))

    def send(self, action, connections, requests):
        """So many at a time, all with this word behind their paths."""
        self.action = action
        for connection in self.run(connections, requests):
            connection.close()


def many(action):
    return lambda load, host: load.send(action, CONNECTIONS, REQUESTS)


def end_threads(load, host):
    """Each connection, and so each thread, has one good request before its last one."""
    del host
    for _ in range(REQUESTS):
        load.send("", CONNECTIONS, 1)
        load.send("/exit", CONNECTIONS, 1)


def become_others(load, host):
    for _ in range(4):
        load.send("", CONNECTIONS, 3)
        load.send("/again", 1, 1)
        host.wait_port(PORT)


# drive: sends the load to a server on a host. children: are there some? least: share of samples that must be right
Row = namedtuple("Row", "name drive children least", defaults=(False, judge.RIGHT_AT_LEAST))
ROWS = (
    Row("children that become other programs", many("/fork"), True),
    Row("signals", many("/signals")),
    Row("threads that end", end_threads),
    # What a process runs is found out when it serves for the first time: one request of 13 is not known.
    Row("a program that becomes another", become_others, least=0.75),
)


def of_children(works, requests, samples):
    """Counter of the verdicts on children, which work for a request, or so it is not known: nothing, its, wrong."""
    traces = {request.id: request.trace for request in requests}
    wanted = {work.tgid: traces[work.id.split(".")[0]] for work in works}
    return Counter("nothing" if not sample.trace else "its" if sample.trace == wanted[sample.tgid] else "wrong"
                   for sample in samples if sample.tgid in wanted)


def complaints_of(row, truth, requests, samples, lost):
    """What is wrong with the samples of a row; prints how many there are of each kind."""
    works = judge.read_truth(truth)
    made = [work for work in works if work.id and "." in work.id]
    children = {work.tgid for work in made}
    verdicts = judge.judge([work for work in works if work.tgid not in children], requests,
                           [sample for sample in samples if sample.tgid not in children])
    others = of_children(made, requests, samples)
    print(f"{row.name}: {100 * judge.right_share(verdicts):.2f} % right {dict(verdicts)}, children {dict(others)}",
          flush=True)
    found = judge.complaints(verdicts, lost, least=row.least)
    found += [f"{others['wrong']} samples of children are wrong"] * (others["wrong"] > 0)
    return found + ["too few samples of children"] * (row.children and sum(others.values()) < CHILD_SAMPLES)


def run(build, row):
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as folder, Lab("adverse") as lab:
        host, client = world(lab)
        Agent(host, build)
        host.spawn([f"{build}/profile_burn", PORT, f"{folder}/truth"])
        host.wait_port(PORT)
        load = AdverseLoad(client, f"{folder}/truth")
        load.send("", 1, 1)  # what a process runs is found out when it serves for the first time
        with Sampler(build, PIN) as sampler:
            row.drive(load, host)
        left = {thread: ids for work in judge.read_truth(f"{folder}/truth")
                for thread, ids in bpf_map.entries_of(PIN, work.tgid).items()}
        samples, lost = sampler.samples()
        found = complaints_of(row, f"{folder}/truth", load.requests, samples, lost)
    return tell(row.name, found + [f"entries left while all threads are idle: {left}"] * bool(left))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    rows = [row for row in ROWS if not args.names or row.name.startswith(tuple(args.names))]
    return int(sum([run(os.path.abspath(args.build), row) for row in rows]) > 0)


if __name__ == "__main__":
    sys.exit(main())
