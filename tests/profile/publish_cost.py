#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs a server on asyncio, or on greenlets, that what it works on is shown in traces_ctx_v1: CPU time of a request that is
told hello, while nobody reads the map; while a profiler of others does with its samples; and while one does at switches of threads, so
that it is shown by probes. They take turns.

    publish_cost.py [--build DIR] [--rounds N] [--seconds S] [aiohttp|gevent ...]

A server that has one thread can do as many requests a second as its CPU time allows: so the share of that which is added is the share
of requests that are lost. It is the scheduler's (schedstat), which other programs on the machine add to, and never take from: so the
least of the rounds counts. What the profiler itself costs is in it. The bar is for samples. Needs root and wrk; exit status 1 when it is missed.
"""
import argparse
import contextlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

import following  # noqa: E402
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from sampling import PIN, READ, Sampler  # noqa: E402
from waiting import wait_until  # noqa: E402

PYTHON, PORT, CONNECTIONS, WARM_SECONDS = "/usr/bin/python3", 8080, 4, 1
CLIENT, SERVER = "10.93.0.1", "10.93.0.2"
NOBODY, SAMPLES, PROBES = "nobody", "samples", "probes"
READERS = {NOBODY: None, SAMPLES: "97", PROBES: "switches"}  # what the reader looks at: profile_sampler's argument
LOST_AT_MOST = 10  # per cent of the requests per second


def load(client, seconds):
    """Requests of a closed loop, in so many seconds."""
    said = client.run(["wrk", "-t", "1", "-c", CONNECTIONS, "-d", seconds, f"http://{SERVER}:{PORT}/"]).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    return int(re.search(r"(\d+) requests in", said)[1])


def cpu_ns(pid):
    """That the threads of a process have had."""
    return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def reader(build, arm):
    """Who reads the map, while this is held."""
    return Sampler(build, PIN, READERS[arm]) if READERS[arm] else contextlib.nullcontext()


def wait_seen(agent, arm):
    """Until the agent has seen him."""
    if READERS[arm]:
        wait_until(lambda: READ in agent.said(), lambda: f"the agent has seen no reader:\n{agent.said()}")


def microseconds(lab_hosts, build, kind, arm, seconds):
    """CPU time of a request."""
    agent = Agent(lab_hosts[1], build)
    try:
        with reader(build, arm):
            wait_seen(agent, arm)
            return microseconds_read(lab_hosts, kind, seconds)
    finally:
        agent.stop()
        agent.command("detach", "--force")


def microseconds_read(lab_hosts, kind, seconds):
    """The same, while somebody reads, or nobody."""
    client, host = lab_hosts
    server = host.spawn([PYTHON, "-B", HERE / "hello.py", kind, PORT])
    try:
        host.wait_port(PORT)
        load(client, WARM_SECONDS)
        following.all_known()
        load(client, WARM_SECONDS)
        before = cpu_ns(server.pid)
        requests = load(client, seconds)
        return (cpu_ns(server.pid) - before) / 1000 / requests
    finally:
        server.kill()
        server.wait()


def measure(build, kind, rounds, seconds):
    """{arm: CPU times of a request}"""
    found, arms = {arm: [] for arm in READERS}, list(READERS)
    with Lab("publish-cost") as lab:
        hosts = lab.host("client"), lab.host("server")
        lab.link(*hosts, f"{CLIENT}/24", f"{SERVER}/24")
        for number in range(rounds):
            for arm in arms[::-1] if number % 2 else arms:
                found[arm].append(microseconds(hosts, build, kind, arm, seconds))
    return found


def tell(kind, found):
    """A line of what was measured; returns 1 if it is too much."""
    us = {arm: min(values) for arm, values in found.items()}
    lost = {arm: 100 * (1 - us[NOBODY] / us[arm]) for arm in (SAMPLES, PROBES)}
    print(f"{kind}: {us[NOBODY]:.1f} us of CPU a request, {us[SAMPLES]:.1f} while somebody samples: {lost[SAMPLES]:.1f} % of its requests"
          f" per second (bar: {LOST_AT_MOST} %), {us[PROBES]:.1f} while it is shown by probes: {lost[PROBES]:.1f} %  "
          + "  ".join(f"{arm} {' '.join(f'{value:.0f}' for value in values)}" for arm, values in found.items()), flush=True)
    return int(lost[SAMPLES] > LOST_AT_MOST)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", type=Path, help="build folder")
    parser.add_argument("--rounds", type=int, default=5, help="how often each has its turn (5)")
    parser.add_argument("--seconds", type=int, default=3, help="of each turn (3)")
    parser.add_argument("kinds", nargs="*", metavar="aiohttp|gevent", help="only these")
    args = parser.parse_args()
    kinds = args.kinds or ["aiohttp", "gevent"]
    missed = [tell(kind, measure(args.build.resolve(), kind, args.rounds, args.seconds)) for kind in kinds]
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
