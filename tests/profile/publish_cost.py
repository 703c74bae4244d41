#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs a server on asyncio, or on greenlets, that what it works on is shown in traces_ctx_v1: CPU time of a request that is
told hello, while nothing is published (--publish never), and while all is (--publish always). The two take turns.

    publish_cost.py [--build DIR] [--rounds N] [--seconds S] [aiohttp|gevent ...]

A server that has one thread can do as many requests a second as its CPU time allows: so the share of that which is added is the share
of requests that are lost. It is the scheduler's (schedstat), which other programs on the machine disturb little. Needs root and wrk;
exit status 1 when a bar is missed.
"""
import argparse
import re
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

import following  # noqa: E402
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402

PYTHON, PORT, CONNECTIONS, WARM_SECONDS = "/usr/bin/python3", 8080, 4, 1
CLIENT, SERVER = "10.93.0.1", "10.93.0.2"
ARMS = ("never", "always")
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


def microseconds(lab_hosts, build, kind, arm, seconds):
    """CPU time of a request."""
    client, host = lab_hosts
    agent = Agent(host, build, "--publish", arm)
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
        agent.stop()
        agent.command("detach", "--force")


def measure(build, kind, rounds, seconds):
    """{arm: CPU times of a request}"""
    found = {arm: [] for arm in ARMS}
    with Lab("publish-cost") as lab:
        hosts = lab.host("client"), lab.host("server")
        lab.link(*hosts, f"{CLIENT}/24", f"{SERVER}/24")
        for number in range(rounds):
            for arm in ARMS[::-1] if number % 2 else ARMS:
                found[arm].append(microseconds(hosts, build, kind, arm, seconds))
    return found


def tell(kind, found):
    """A line of what was measured; returns 1 if it is too much."""
    never, always = (statistics.median(found[arm]) for arm in ARMS)
    lost = 100 * (1 - never / always)
    print(f"{kind}: {never:.1f} us of CPU a request, {always:.1f} while it is shown: {lost:.1f} % of its requests per second"
          f" (bar: {LOST_AT_MOST} %)  " + "  ".join(f"{arm} {' '.join(f'{us:.0f}' for us in found[arm])}" for arm in ARMS), flush=True)
    return int(lost > LOST_AT_MOST)


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
