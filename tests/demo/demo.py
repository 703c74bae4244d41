#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What ctxprop does, with real programs, in about ten seconds:

    curl (client) --> nginx --> a Python service (app) --> a server that records (outside)

Three network namespaces; ctxpropd runs in "app" only. The service makes two calls for each request
and copies no header of it: that they belong to one trace is ctxprop's doing. Exit status 1 if anything arrived otherwise
than it should. Nothing is left behind.
"""
import argparse
import hashlib
import json
import os
import re
import signal
import string
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from following import all_known  # noqa: E402
from lab import Lab  # noqa: E402
from picture import draw  # noqa: E402
from profiled import profile  # noqa: E402
from recorder import Recorder  # noqa: E402
from waiting import wait_until  # noqa: E402

CLIENT, APP_FRONT = "10.50.0.1", "10.50.0.2"
APP_BACK, OUTSIDE = "10.50.1.1", "10.50.1.2"
SERVICE_PORT, PAGE = 9000, f"{APP_FRONT}:9464"
OWN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CALLERS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"
ADDED = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-03")
SPANS = ["client"] * 3 + ["server"] * 2  # nginx and the service; their calls
BOLD, GREEN, RED, PLAIN = ("\033[1m", "\033[32m", "\033[31m", "\033[0m") \
    if sys.stdout.isatty() else ("", "", "", "")


class Scene:
    """The three namespaces, their servers and the agent."""

    def __init__(self, lab, build, folder, *options):
        self.folder, self.store = folder, folder / "ctxprop.db"
        self.client, self.app, self.outside = map(lab.host, ("client", "app", "outside"))
        lab.link(self.client, self.app, f"{CLIENT}/24", f"{APP_FRONT}/24")
        lab.link(self.app, self.outside, f"{APP_BACK}/24", f"{OUTSIDE}/24")
        self.recorder = Recorder(self.outside, OUTSIDE)
        self.agent = Agent(self.app, build, "--store", self.store, *options)
        self.app.spawn([sys.executable, HERE / "service.py", SERVICE_PORT, OUTSIDE,
                        self.recorder.port])
        self.app.wait_port(SERVICE_PORT)
        conf = string.Template((HERE / "nginx.conf.in").read_text())
        (folder / "nginx.conf").write_text(conf.substitute(folder=folder))
        self.app.spawn(["nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"])
        self.app.wait_port(8080)
        all_known()

    def curl(self, *arguments):
        """One run of curl by the client, against nginx in the app's namespace."""
        self.client.run(["curl", "-sS", "--fail", "--max-time", "20", "-o", "/dev/null",
                         *arguments])


class Step:
    """Some traffic, and what has to arrive outside because of it."""

    def __init__(self, title, path, *arguments, body=b"", times=1, own=None, caller=None):
        self.title, self.path, self.arguments, self.body = title, path, arguments, body
        self.times, self.own, self.caller = times, own, caller

    def run(self, scene):
        """Send it; returns the requests that arrived outside."""
        scene.recorder.clear()
        body = ["--data-binary", f"@{scene.folder}/body", "-H", "Expect:"] if self.body else []
        if self.caller:
            body += ["-H", f"traceparent: {self.caller}"]
        (scene.folder / "body").write_bytes(self.body)
        scene.curl(*body, *self.arguments, *[f"http://{APP_FRONT}:8080{self.path}"] * self.times)
        return list(scene.recorder.requests)

    def check(self, arrived):
        """Everything that is wrong about these requests, in words."""
        wrong = []
        wanted = sorted([f"/{way}{self.path}" for way in ("new", "kept")] * self.times)
        if sorted(request.target for request in arrived) != wanted:
            wrong.append(f"{len(arrived)} of {len(wanted)} requests arrived")
        if any(request.sha256 != hashlib.sha256(self.body).hexdigest() for request in arrived):
            wrong.append("a body was changed")
        if not self.headers_are_right([request.traceparents for request in arrived]):
            wrong.append("traceparent: " + "; ".join(str(r.traceparents) for r in arrived))
        return wrong

    def headers_are_right(self, values):
        """One header each; the two calls of a request in one trace, the caller's if it has one."""
        if self.own:
            return all(value == [self.own] for value in values)
        added = [ADDED.fullmatch(value[0]) if len(value) == 1 else None for value in values]
        if not all(added):
            return False
        traces = [match[1] for match in added]
        spans = {match[2] for match in added}
        if traces[0::2] != traces[1::2] or len(spans) != len(values):
            return False
        if self.caller:
            _, trace, span, _ = self.caller.split("-")
            return set(traces) == {trace} and span not in spans
        return len(set(traces)) == self.times


STEPS = (
    Step("GET", "/hello"),
    Step("POST, 27 bytes", "/form", body=b"name=ctxprop&colour=green&x"),
    Step("POST, 3 MB", "/upload", body=os.urandom(3_000_000)),
    Step("GET, head of 4 KB (three segments)", "/long", "-H", "X-Pad: " + "p" * 4000),
    Step("20 GETs in a row", "/many", times=20),
    Step("GET, the caller sends a traceparent", "/traced", caller=CALLERS),
    Step("GET, traceparent by the application", "/own", "-H", f"traceparent: {OWN}",
         "-H", "X-Pass-On: 1", own=OWN),
)


def show_bytes(request):
    """One head as it arrived, with the added line marked."""
    for line in request.head.raw.decode("latin-1").splitlines(keepends=True):
        mark, end = (GREEN + BOLD, PLAIN) if line.startswith("traceparent") else ("", "")
        print(f"    {mark}{line.encode('unicode_escape').decode()}{end}")


def traces_seen(step, arrived):
    """Which traces the requests outside belong to, in words."""
    traces = {value.split("-")[1] for request in arrived for value in request.traceparents}
    if step.own:
        return "the application's own"
    if step.caller and traces == {step.caller.split("-")[1]}:
        return "the caller's"
    return f"{len(traces)} new"


def show_row(step, arrived, wrong):
    count = f"{sum(len(r.traceparents) for r in arrived)} on {len(arrived)}"
    size = f"{len(step.body):,}" if step.body else "-"
    verdict = f"{RED}WRONG{PLAIN}" if wrong else f"{GREEN}ok{PLAIN}"
    print(f"{step.title:38} {count:>9}  {traces_seen(step, arrived):22} {size:>10}  {verdict}")


def show_commands(scene):
    for argv in (["stats"], ["flows"]):
        print(f"\n{BOLD}$ ctxprop {' '.join(argv)}{PLAIN}\n{scene.agent.command(*argv)}", end="")


def traces_of(scene, *argv):
    """What `ctxprop trace` shows of the demo's own traffic."""
    return scene.agent.command("trace", "--store", scene.store, *argv)


def check_trees(scene):
    """Is every step in the store, as trees of five spans? Returns what is wrong, in words."""
    def kinds():
        return [sorted(span["kind"] for span in trace["spans"])
                for trace in json.loads(traces_of(scene, "-j", "-n", "1000"))]

    wanted, wrong = [SPANS] * sum(step.times for step in STEPS), []
    try:
        wait_until(lambda: kinds() == wanted, "the spans of all requests", seconds=5)
    except AssertionError:
        wrong = [f"spans in the store, by traces: {list(map(len, kinds()))}"]
    print(f"\n{BOLD}$ ctxprop trace -n 2{PLAIN}\n{traces_of(scene, '-n', '2')}", end="")
    return wrong


def check_page(scene):
    """Does the agent show all this in a browser, too? Returns what is wrong, in words."""
    asked = scene.client.run(["curl", "-sS", "--max-time", "20", f"http://{PAGE}/",
                              f"http://{PAGE}/api/v1/endpoints"], check=False)
    shown = "<title>ctxprop" in asked.stdout and '"/kept/hello"' in asked.stdout
    print(f"The page with all this: http://{PAGE}/, as seen by the client (./run demo --stay leaves "
          "time to look;\non a host of your own: ctxpropd --http 127.0.0.1:9464)")
    return [] if shown else [f"the page: {asked.stderr or asked.stdout[:200]}"]


def play(scene):
    """All steps; returns everything that was wrong with them, and with their traces."""
    results = []
    for step in STEPS:
        arrived = step.run(scene)
        results.append((step, arrived, step.check(arrived)))
    print(f"{BOLD}The first request, as the server outside got it{PLAIN}")
    if results[0][1]:
        show_bytes(results[0][1][0])
    print(f"\n{BOLD}{'curl sent, through nginx':38} {'headers':>9}  {'traces':22} "
          f"{'body bytes':>10}{PLAIN}")
    for step, arrived, wrong in results:
        show_row(step, arrived, wrong)
    print("headers: traceparent headers on requests that arrived; the service makes two calls per "
          "request,\nand both have to be in the trace of that request")
    show_commands(scene)
    trees = check_trees(scene)
    return [f"{step.title}: {what}" for step, _, wrong in results for what in wrong], trees


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (build)")
    parser.add_argument("--stay", action="store_true", help="go on until Enter, to look around")
    parser.add_argument("--profile", nargs="?", const="ctxprop-demo.svg", metavar="FILE",
                        help="profile its servers under load, too: a flame graph by endpoint "
                        "(ctxprop-demo.svg)")
    parser.add_argument("--picture", metavar="FILE", help="draw one of the traces (SVG), as in the README")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print("client (curl)  -->  app (nginx, Python service, ctxpropd)  -->  outside\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="ctxprop-demo-") as folder, Lab("demo") as lab:
        scene = Scene(lab, os.path.abspath(args.build), Path(folder), "--http", PAGE)
        wrong, trees = play(scene)
        trees += check_page(scene)
        if args.picture:
            draw(next(trace for trace in json.loads(traces_of(scene, "-j", "-n", "1000"))
                      if trace["spans"][0]["path"] == STEPS[0].path), args.picture)
        if args.profile:
            trees += profile(scene, APP_FRONT, os.path.abspath(args.profile))
        if args.stay:
            input(f"\nThe page: ip netns exec {scene.client.netns} BROWSER http://{PAGE}/ "
                  "(Enter ends the demo)")
    print("\n".join([""] + [f"{RED}WRONG{PLAIN} {what}" for what in wrong + trees] or []))
    print(f"{len(STEPS) - len(wrong)} of {len(STEPS)} steps as they should be")
    return int(bool(wrong or trees))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, subprocess.SubprocessError) as error:
        sys.exit(f"demo: {error}")
