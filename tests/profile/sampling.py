#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Can a profiler use traces_ctx_v1? Servers in C, Python and Go burn CPU under known requests, a
sampler that knows only the published layout looks at them.

    sampling.py [--build DIR] [--self-test] [ROW...]

--self-test: without ctxprop; a server publishes contexts itself, in a map of its own, and makes
mistakes that must be found.
"""
import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

import bpf_map  # noqa: E402
import following  # noqa: E402
import judge  # noqa: E402
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from load import Load  # noqa: E402
from waiting import wait_until  # noqa: E402

PORT = 8080
ADDRESS = "10.79.0.2"
CPU_US = 60000  # of a request
PIN = "/sys/fs/bpf/otel/traces_ctx_v1"

# server: argv with {build}, {here}; PORT and the truth file follow. agent: options of ctxpropd.
# silent: nothing is to be published, so that nothing can be wrong. awaits: what the agent says of the
# process before it matters. least: share of samples that must be right. first: what the first reader looks at,
# samples so many times a second, or switches of threads: these are shown by probes
Row = namedtuple("Row", "name server connections requests roots agent silent awaits least first",
                 defaults=(4, 12, False, (), False, "", judge.RIGHT_AT_LEAST, "19"))
GIVEN_UP, FOLLOWED = "its goroutines change more than", "following tasks and queues"
GOES = "following goroutines"
NEVER, ALWAYS = ("--publish", "never"), ("--publish", "always")
READ = "[publishing-"  # what the agent says when it has seen a sampler
ROWS = (
    Row("C", ["{build}/profile_burn"]),
    Row("C, new traces", ["{build}/profile_burn"], roots=True),
    Row("Python", ["/usr/bin/python3", "-B", "{here}/burn.py"]),
    # On a busy machine one or two of the 48 requests were missed, as a whole.
    Row("Python, an executor", ["/usr/bin/python3", "-B", "{here}/burn_pool.py"], awaits=FOLLOWED,
        least=0.9),
    # Of the first requests nothing is known: what wakes their task has yet to show that it does.
    Row("Python, tasks", ["/usr/bin/python3", "-B", "{here}/burn_aio.py"], awaits=FOLLOWED, least=0.8),
    Row("Python, tasks, always", ["/usr/bin/python3", "-B", "{here}/burn_aio.py"], agent=ALWAYS, awaits=FOLLOWED, least=0.8),
    Row("Python, tasks, by probes", ["/usr/bin/python3", "-B", "{here}/burn_aio.py"], awaits=FOLLOWED, least=0.8,
        first="switches"),
    Row("Python, tasks, not wanted", ["/usr/bin/python3", "-B", "{here}/burn_aio.py"], agent=NEVER, silent=True),
    Row("Go", ["{build}/profile_burn_go"], awaits=GOES),
    Row("Go, one at a time", ["{build}/profile_burn_go"], connections=1, requests=48, awaits=GOES),
    Row("Go, always", ["{build}/profile_burn_go"], agent=ALWAYS, awaits=GOES, requests=36),
    Row("Go, by its former name", ["{build}/profile_burn_go"], agent=("--publish-goroutines", "never"), silent=True),
    Row("Go, not wanted", ["{build}/profile_burn_go"], agent=NEVER, silent=True),
    Row("Go, too dear", ["{build}/profile_burn_go"], awaits=GIVEN_UP, first="switches"),
)

# What the server of the self-test does wrong once in ten requests, and the complaints that must
# come of it.
MISSING, WRONG, STALE, SPAN = (f"samples are {word}" for word in ("missing", "wrong", "stale", "span"))
LEFT = "entries left"
FAULTS = {"none": (), "wrong": (WRONG,), "stale": (STALE, LEFT), "late": (MISSING,),
          "absent": (MISSING,), "span": (SPAN,), "zero": (SPAN,), "parent": (SPAN,),
          "idle": (STALE,)}


class Sampler:
    """profile_sampler on the whole machine, while this is held. argv: how often a second."""

    def __init__(self, build, pin, *argv):
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([f"{build}/profile_sampler", pin, *argv], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)  # what follows the first line is not read here

    def __enter__(self):
        if self.process.stdout.readline() != b"ready\n":
            raise RuntimeError("profile_sampler does not start")
        # From now on into a file: a pipe would fill up.
        self.copy = subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=self.said)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=10)
        self.copy.wait(timeout=10)

    def samples(self):
        self.said.seek(0)
        return judge.read_samples(self.said)


Outcome = namedtuple("Outcome", "verdicts complaints")


def wait_until_said(agent, pid, text):
    """Until the agent's log says that of the process."""
    wait_until(lambda: any(text in line and f"process {pid} " in line
                           for line in agent.said().splitlines()),
               lambda: f"the agent does not say \"{text}\" of {pid}:\n{agent.said()}")


@contextlib.contextmanager
def first_reader(build, pin, row, agent):
    """A sampler that nobody asks: what is published only while somebody reads is so by the time that this is held."""
    if not agent or row.agent:
        yield
        return
    with Sampler(build, pin, row.first):
        wait_until(lambda: READ in agent.said(), lambda: f"the agent has seen no reader:\n{agent.said()}")
        yield


def measure(host, client, build, pin, row, truth, *more, agent=None):
    """Start a row's server in `host`, load it from `client`, sample it; returns the Outcome."""
    with first_reader(build, pin, row, agent):
        return measure_read(host, client, build, pin, row, truth, *more, agent=agent)


def measure_read(host, client, build, pin, row, truth, *more, agent):
    """The same, while somebody reads the map."""
    argv = [word.format(build=build, here=HERE) for word in row.server]
    server = host.spawn([*argv, PORT, truth, *(["restless"] if row.awaits == GIVEN_UP else []), *more])
    host.wait_port(PORT)
    load = Load(client, ADDRESS, PORT, CPU_US, row.roots)
    # What a process runs is found out when it serves for the first time.
    for connection in load.run(1, 1):
        connection.close()
    if agent:
        following.known_as(server.pid)
    if row.awaits:
        wait_until_said(agent, server.pid, row.awaits)
    with Sampler(build, pin) as sampler:
        sockets = load.run(row.connections, row.requests)
    try:
        left = bpf_map.entries_of(pin, server.pid)
    finally:
        for connection in sockets:
            connection.close()
        server.kill()
        server.wait()
    samples, lost = sampler.samples()
    verdicts = judge.judge(judge.read_truth(truth), load.requests, samples, row.awaits in (GOES, GIVEN_UP))
    complaints = judge.complaints(verdicts, lost, row.silent, row.least)
    if left:
        complaints.append(f"{LEFT} while all threads are idle: {left}")
    return Outcome(verdicts, complaints)


def world(lab):
    """(server's host, client's host)"""
    client, server = lab.host("client"), lab.host("server")
    lab.link(client, server, "10.79.0.1/24", f"{ADDRESS}/24")
    return server, client


def show(name, outcome):
    """One line of the table."""
    counts = "  ".join(f"{word} {count}" for word, count in sorted(outcome.verdicts.items()))
    print(f"{name}: {100 * judge.right_share(outcome.verdicts):.2f} % right ({counts})", flush=True)


def row_outcome(build, row):
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as folder, Lab("profile") as lab:
        server, client = world(lab)
        agent = Agent(server, build, *row.agent)
        return measure(server, client, build, PIN, row, f"{folder}/truth", agent=agent)


def run_rows(build, names):
    failed = 0
    for row in ROWS:
        if names and not row.name.lower().startswith(tuple(name.lower() for name in names)):
            continue
        program = row.server[0].format(build=build)
        if not os.path.exists(program):
            print(f"ok - {row.name} # SKIP {program} is not there: was Go missing at build time?")
            continue
        outcome = row_outcome(build, row)
        show(row.name, outcome)
        if outcome.complaints and all(line.startswith(judge.TOO_FEW) for line in outcome.complaints):
            print(f"# {row.name}, once more: {outcome.complaints}", flush=True)
            outcome = row_outcome(build, row)
            show(row.name, outcome)
        failed += tell(row.name, outcome.complaints)
    return failed


def tell(name, complaints):
    """TAP line of a row; returns 1 if it failed."""
    print(f"{'not ok' if complaints else 'ok'} - {name}", flush=True)
    print("".join(f"# {line}\n" for line in complaints), end="", flush=True)
    return int(bool(complaints))


def fault_outcome(build, fault):
    row = Row(fault, ["{build}/profile_burn"], requests=10)
    with tempfile.TemporaryDirectory(prefix="ctxprop-profile-") as folder, Lab("profile") as lab, \
            bpf_map.Pinned("lru_hash", 8, 24, 16384) as pin:
        return measure(*world(lab), build, pin, row, f"{folder}/truth", pin, fault)


def self_test(build, names):
    """Each fault must be found for what it is, and no fault must find nothing."""
    failed = 0
    for fault, wanted in FAULTS.items():
        if names and fault not in names:
            continue
        outcome = fault_outcome(build, fault)
        show(f"fault {fault}", outcome)
        found = " ".join(outcome.complaints)
        wrong = [f"not found: {word}" for word in wanted if word not in found]
        if not wanted:
            wrong = outcome.complaints
        failed += tell(f"fault {fault}", wrong)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--self-test", action="store_true", help="does the judge find mistakes?")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    run = self_test if args.self_test else run_rows
    return int(run(os.path.abspath(args.build), args.names) > 0)


if __name__ == "__main__":
    sys.exit(main())
