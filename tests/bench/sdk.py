#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trace context costs a Node service that makes a call for each request: by ctxprop, and by the OpenTelemetry SDK.

    sdk.py [--build DIR] [--rounds N] [--seconds S] [--markdown]

Client, service and upstream share one CPU, which a closed loop keeps busy: the time that a request takes then is what it costs.
The arms take turns. ctxprop: the agent in the service's namespace, which injects and follows; with its probes, and without a store. SDK:
from npm, the instrumentation of http alone, nothing is exported (sdk_register.js). Needs root, node, npm, curl and wrk;
installs the SDK into the build folder.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402

PORT, CONNECTIONS = 8080, 8
CLIENT, FRONT, BACK, UPSTREAM = "10.94.0.1", "10.94.0.2", "10.94.1.1", "10.94.1.2"
PACKAGES = ("@opentelemetry/api@1.9.0", "@opentelemetry/sdk-trace-node@1.25.1",
            "@opentelemetry/instrumentation@0.52.1", "@opentelemetry/instrumentation-http@0.52.1")
ARMS = ("none", "ctxprop", "SDK")


class Bench:
    """The namespaces; one service at a time."""

    def __init__(self, lab, build, cpu):
        self.build, self.cpu = build, cpu
        self.client, self.app, self.upstream = map(lab.host, ("client", "app", "upstream"))
        lab.link(self.client, self.app, f"{CLIENT}/24", f"{FRONT}/24")
        lab.link(self.app, self.upstream, f"{BACK}/24", f"{UPSTREAM}/24")
        self.spawn(self.upstream, [build / "bench_server", PORT])
        self.upstream.wait_port(PORT)

    def place(self):
        os.sched_setaffinity(0, {self.cpu})

    def spawn(self, host, argv, **kw):
        return host.spawn(argv, preexec_fn=self.place, **kw)

    def microseconds(self, arm, folder, seconds):
        """What a request takes in an arm, and what the upstream has got from the service."""
        agent = Agent(self.app, self.build) if arm == "ctxprop" else None
        sdk = ["--require", HERE / "sdk_register.js"] if arm == "SDK" else []
        service = self.spawn(self.app, ["node", *sdk, HERE / "sdk_app.js", FRONT, PORT, UPSTREAM, PORT],
                             env={**os.environ, "NODE_PATH": f"{folder}/node_modules"})
        try:
            self.app.wait_port(PORT)
            self.load(1)  # warm
            return 1e6 / self.load(seconds), self.is_injected()
        finally:
            service.kill()
            service.wait()
            if agent:
                agent.stop()
                agent.command("detach", "--force")

    def load(self, seconds):
        """Requests a second of a closed loop."""
        said = self.client.run(["taskset", "-c", self.cpu, "wrk", "-t", "1", "-c", CONNECTIONS, "-d", seconds,
                                f"http://{FRONT}:{PORT}/"]).stdout
        if "Non-2xx" in said:
            raise RuntimeError(said)
        return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])

    def is_injected(self):
        """Does the upstream get the traceparent's trace? bench_server's /echo says what it got."""
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        head = self.client.run(["curl", "-s", "-H", f"traceparent: 00-{trace}-00f067aa0ba902b7-01",
                                f"http://{FRONT}:{PORT}/echo"]).stdout
        return f"traceparent: 00-{trace}-" in head.lower()


def install(folder):
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules/@opentelemetry/sdk-trace-node").exists():
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES], check=True,
                       stdout=subprocess.DEVNULL)


def table(found, markdown):
    """Rows of the arms: what a request takes, and what was added to it."""
    base = statistics.median(found["none"])
    rows = [("", "us/request", "added", "[quartiles]")]
    for arm in ARMS:
        quartiles = statistics.quantiles([value - base for value in found[arm]], n=4)
        rows.append((arm, f"{statistics.median(found[arm]):.1f}", f"{statistics.median(found[arm]) - base:.1f}",
                     f"[{quartiles[0]:.1f}..{quartiles[2]:.1f}]"))
    for number, row in enumerate(rows):
        print("| " + " | ".join(row) + " |" if markdown else "{:10}{:>12}{:>10}  {}".format(*row))
        if markdown and not number:
            print("|---" * len(row) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", type=Path, help="build folder")
    parser.add_argument("--rounds", type=int, default=7, help="how often each arm has its turn (7)")
    parser.add_argument("--seconds", type=int, default=5, help="of each turn (5)")
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    args = parser.parse_args()
    folder = args.build.resolve() / "bench_sdk"
    install(folder)
    found, injected = {arm: [] for arm in ARMS}, Counter()
    with Lab("sdk") as lab:
        bench = Bench(lab, args.build.resolve(), os.cpu_count() - 1)
        for number in range(args.rounds):
            for arm in ARMS[number % 3:] + ARMS[:number % 3]:
                cost, is_injected = bench.microseconds(arm, folder, args.seconds)
                found[arm].append(cost)
                injected[arm] += is_injected
    table(found, args.markdown)
    print("the call is in the request's trace: " + ", ".join(f"{arm} {injected[arm]} of {args.rounds}" for arm in ARMS))
    return int(injected["ctxprop"] != args.rounds or injected["none"] > 0)


if __name__ == "__main__":
    sys.exit(main())
