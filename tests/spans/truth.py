#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spans against the truth: what client, service and upstream have measured themselves.

    client --> app (ctxpropd) --> upstream (ctxpropd)

    truth.py [--build DIR] [ROW...]     rows: load, loss, stop, kill, keep, burst

Each request has a number in its path. Of each number the store of the app's agent must have one
span that was served and one that was called, the upstream's one that was served: with the right
parents, statuses and bytes, and within the time that both ends have measured. Where the agent was
killed or stopped meanwhile, spans may be missing, but none may be there twice or wrong, and none
may be missing of requests that were over before, or have begun behind it. Where one trace in a
hundred is sampled and --keep is given, those in which something went wrong are there as a whole.
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
from following import known_as  # noqa: E402
from lab import Lab  # noqa: E402
from waiting import wait_until  # noqa: E402
from words import check_words  # noqa: E402

FRONT, BACK, UPSTREAM, PORT = "10.97.1.2", "10.97.2.1", "10.97.2.2", 8000
CLIENT = "10.97.1.1"
SERVER, CALL = 2, 3
SLACK_NS = 2_000_000  # between a packet and a program that reads the clock after it
COUNT, THREADS = 2000, 16
STOPPED_SECONDS = 8  # less than records are made without a reader
ADDED = len("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n")
NS = 10**9

SPANS = """SELECT lower(hex(span_id)) AS id, lower(hex(trace_id)) AS trace,
    lower(hex(parent_id)) AS parent, kind, start_ns AS begin, start_ns + duration_ns AS end,
    first_byte_ns, path, route, method, host, status, outcome, request_bytes, response_bytes,
    reused, header, services.name AS service
    FROM spans JOIN services ON services.id = service_id"""


class Scene:
    """The hosts, the programs and the agents; with `sample` the client has one, too, which begins
    the traces."""

    def __init__(self, lab, build, folder, loss=None, sample=None, options=()):
        self.lab, self.build, self.folder = lab, build, folder
        self.client, self.app, self.upstream = map(lab.host, ("client", "app", "upstream"))
        if loss:
            self.bad_link(loss)
        else:
            lab.link(self.client, self.app, f"{CLIENT}/24", f"{FRONT}/24")
        lab.link(self.app, self.upstream, f"{BACK}/24", f"{UPSTREAM}/24")
        self.stores = {host: folder / f"{host.name}.db" for host in (self.app, self.upstream)}
        self.agents = {host: Agent(host, build, "--store", store, *options)
                       for host, store in self.stores.items()}
        self.sampled = bool(sample)
        if sample:
            (folder / "policy").write_text(f"policy add action inject sample {sample}\n")
            Agent(self.client, build, "--policy", folder / "policy")
        self.serve(self.upstream)
        self.serve(self.app, UPSTREAM, PORT)

    def bad_link(self, loss):
        link = subprocess.Popen([self.build / "tests/chaos/link", "--a", self.client.netns, "--b",
                                 self.app.netns, "--loss", str(loss), "--reorder", "5",
                                 "--duplicate", "2", "--delay", "1", "--tap"], text=True,
                                stdout=subprocess.PIPE, start_new_session=True)
        self.lab.processes.append(link)
        if link.stdout.readline().strip() != "ready":
            raise RuntimeError("the bad link did not come up")
        for host, address in ((self.client, CLIENT), (self.app, FRONT)):
            host.run(["ip", "addr", "add", f"{address}/24", "dev", "tun0"])
            host.run(["ip", "link", "set", "tun0", "up"])

    def serve(self, host, *upstream):
        process = host.spawn([sys.executable, HERE / "app.py", PORT, self.log(host), *upstream],
                             env={**os.environ, "OTEL_SERVICE_NAME": f"truth-{host.name}",
                                  "OTEL_RESOURCE_ATTRIBUTES": f"k8s.pod.name={host.name}-0"})
        host.wait_port(PORT)
        known_as(process.pid)

    def log(self, host):
        return self.folder / f"{host.name}.log"

    def ask(self, first, count):
        """Start a client with so many requests."""
        return self.client.spawn([sys.executable, HERE / "client.py", FRONT, PORT,
                                  self.log(self.client), first, count, THREADS])

    def told(self, host, kind):
        """{number: what a program tells of it}"""
        log = self.log(host)
        lines = map(json.loads, log.read_text().splitlines() if log.exists() else ())
        return {line["number"]: line for line in lines if line["kind"] == kind}

    def spans(self, host):
        """{(kind, number): [span]} of a host's store."""
        found = {}
        with contextlib.closing(sqlite3.connect(f"file:{self.stores[host]}?mode=ro",
                                                uri=True)) as db:
            db.row_factory = sqlite3.Row
            for row in db.execute(SPANS):
                number = (row["path"] or "/-1").rpartition("/")[2]
                key = row["kind"], int(number) if number.lstrip("-").isdigit() else number
                found.setdefault(key, []).append(dict(row))
        return found


class Check:
    """Collects what is wrong, in words."""

    def __init__(self, scene):
        self.wrong, self.missing, self.checked, self.count = [], 0, 0, COUNT
        self.added = ADDED if scene.sampled else 0  # to requests, by the client's agent
        self.asked = scene.told(scene.client, "asked")
        self.served = scene.told(scene.app, "served")
        self.called = scene.told(scene.app, "call")
        self.answered = scene.told(scene.upstream, "served")
        self.app, self.upstream = scene.spans(scene.app), scene.spans(scene.upstream)

    def complain(self, number, what):
        self.wrong.append(f"request {number}: {what}")

    def one(self, spans, kind, number, may_miss):
        """The only span of a number, or None."""
        found = spans.get((kind, number), [])
        if not found and may_miss(number):
            self.missing += 1
        elif len(found) != 1:
            self.complain(number, f"{len(found)} spans of kind {kind}")
        self.checked += len(found) == 1
        return found[0] if len(found) == 1 else None

    def compare(self, number, what, got, wanted):
        if got != wanted:
            self.complain(number, f"{what}: {got!r}, not {wanted!r}")

    def within(self, number, what, span, outer, inner):
        """outer: who waited for the answer; inner: who gave it. Both have read the clock."""
        if not outer["begin"] - SLACK_NS <= span["begin"] <= inner["begin"] + SLACK_NS:
            self.complain(number, f"{what} begins at {span['begin'] - outer['begin']} ns behind "
                          f"{outer['begin']}, where {inner['begin']} is told")
        if not inner["end"] - SLACK_NS <= span["end"] <= outer["end"] + SLACK_NS:
            self.complain(number, f"{what} ends at {span['end'] - outer['end']} ns behind "
                          f"{outer['end']}, where {inner['end']} is told")

    def request(self, number, may_miss=lambda _: False, headers=("injected",),
                upstream_may_miss=lambda _: False):
        served = self.one(self.app, SERVER, number, may_miss)
        called = self.one(self.app, CALL, number, may_miss)
        answered = self.one(self.upstream, SERVER, number, upstream_may_miss)
        if served:
            self.check_served(number, served)
        if called:
            self.check_called(number, called, headers)
        if served and called:
            self.compare(number, "trace of its call", called["trace"], served["trace"])
            self.compare(number, "parent of its call", called["parent"], served["id"])
        if called and answered and called["header"] == "injected":
            self.compare(number, "trace at the upstream", answered["trace"], called["trace"])
            self.compare(number, "parent at the upstream", answered["parent"], called["id"])

    def check_served(self, number, span):
        asked, served = self.asked[number], self.served[number]
        self.compare(number, "service", span["service"], "truth-app")
        self.compare(number, "path", span["path"], f"/api/{number}")
        self.compare(number, "route", span["route"],
                     "(not found)" if asked["status"] == 404 else "/api/{id}")
        self.compare(number, "method", span["method"], "POST" if number % 5 else "GET")
        self.compare(number, "status", span["status"], asked["status"])
        self.compare(number, "outcome", span["outcome"], "answered")
        self.compare(number, "bytes of the request", span["request_bytes"],
                     asked["sent"] + self.added)
        self.compare(number, "bytes of the response", span["response_bytes"], served["sent"])
        self.within(number, "what is served", span, asked, served)

    def check_called(self, number, span, headers):
        call, answer = self.called[number], self.answered[number]
        self.compare(number, "status of its call", span["status"], call["status"])
        self.compare(number, "path of its call", span["path"], f"/up/{number}")
        self.compare(number, "bytes of its call", span["request_bytes"], call["sent"])
        self.compare(number, "bytes of the answer", span["response_bytes"], call["got"])
        if span["header"] not in headers:
            self.complain(number, f"header: {span['header']}")
        self.within(number, "its call", span, call, answer)


def settled(scene):
    """Wait until the stores get no more spans."""
    counts = []

    def stands():
        counts.append([sum(map(len, scene.spans(host).values())) for host in scene.stores])
        time.sleep(0.3)
        return len(counts) > 2 and counts[-1] == counts[-2] == counts[-3]

    wait_until(stands, "the last spans", seconds=30)


def undisturbed(scene):
    """All requests, while nothing happens to the agents."""
    client = scene.ask(1, COUNT)
    client.wait(timeout=300)
    settled(scene)
    check = Check(scene)
    for number in range(1, COUNT + 1):
        check.request(number)
    stats = scene.agents[scene.app].stats()
    lost = stats["served-lost"] + stats["served-cut"]
    if lost:
        allow_lost(check, lost)
    else:
        check_words(scene, check)
    return check


def allow_lost(check, lost):
    """A connection that was lost from sight is not read for a while, which is counted: so often a
    request may be cut, and the next one may be missing. What is there has no other one's trace."""
    numbers = {line.partition(":")[0] for line in check.wrong}
    owners = {}
    for (_, number), spans in check.app.items():
        for span in spans:
            owners.setdefault(span["trace"], set()).add(number)
    print(f"# served-lost and served-cut: {lost}; not as they were: {len(numbers)} requests", flush=True)
    check.missing += len(numbers)
    if len(numbers) <= 2 * lost:
        check.wrong = [f"one trace of several requests: {trace} of {sorted(owned, key=str)}"
                       for trace, owned in owners.items() if len(owned) > 1]


def interrupted(scene, how):
    """The app's agent ends in the middle, and another one begins."""
    agent = scene.agents[scene.app]
    client = scene.ask(1, COUNT)
    wait_until(lambda: len(scene.told(scene.client, "asked")) > COUNT // 3, "a third of them")
    ended = time.time_ns()
    agent.stop(how)
    agent.start()
    ready = time.time_ns()
    client.wait(timeout=300)
    settled(scene)
    check = Check(scene)

    def may_miss(number):
        """In flight when it ended, or while nobody was there, or when spans were written last: see store_sink.c."""
        asked = check.asked[number]
        return asked["end"] > ended - NS - NS // 5 and asked["begin"] < ready + NS // 5

    for number in range(1, COUNT + 1):
        check.request(number, may_miss, ("injected", "paused"))
    return check


def kept(scene):
    """One trace in a hundred is sampled; those with errors are kept, and what was slow."""
    scene.ask(1, COUNT).wait(timeout=300)
    settled(scene)
    check = Check(scene)
    numbers = set(range(1, COUNT + 1))
    wrong = {number for number in numbers if check.called[number]["status"] >= 400}
    others = {number for number in numbers - wrong
              if (SERVER, number) in check.app or (CALL, number) in check.app}
    for number in wrong | others:  # a 404 is no error where it is served
        check.request(number, upstream_may_miss=lambda n: check.called[n]["status"] < 500)
    # 1 % is sampled, and the slowest 1 % of each of two endpoints; chance may double that.
    if not 1 <= len(others) <= (COUNT - len(wrong)) * 0.06:
        check.complain(0, f"{len(others)} of {COUNT - len(wrong)} traces without errors are kept")
    with contextlib.closing(sqlite3.connect(scene.stores[scene.app])) as db:
        counted = db.execute("SELECT kind, sum(count) FROM endpoints GROUP BY 1 ORDER BY 1")
        check.compare(0, "requests by their endpoints", counted.fetchall(),
                      [(SERVER, COUNT), (CALL, COUNT)])
    print(f"# {len(wrong)} traces with errors, {len(others)} of {COUNT - len(wrong)} others")
    return check


def burst(scene):
    """Nobody reads for a while, as when requests come much faster than they are read: the ring fills
    up, and traces are lost as a whole."""
    daemon, count = scene.agents[scene.app].process, 4 * COUNT
    client = scene.ask(1, count)
    wait_until(lambda: len(scene.told(scene.client, "asked")) > COUNT // 10, "some of them")
    daemon.send_signal(signal.SIGSTOP)
    stopped = time.monotonic()
    while client.poll() is None and time.monotonic() < stopped + STOPPED_SECONDS:
        time.sleep(0.1)
    daemon.send_signal(signal.SIGCONT)
    client.wait(timeout=300)
    settled(scene)
    check = Check(scene)
    check.count = count
    there = {kind: {n for (k, n), found in check.app.items() if k == kind and found}
             for kind in (SERVER, CALL)}
    for number in there[SERVER] & there[CALL]:
        check.request(number)
    cut = there[SERVER] ^ there[CALL]
    whole = len(there[SERVER] & there[CALL])
    stats = scene.agents[scene.app].stats()
    # What is in flight when its trace's turn to be shed comes is cut: one request of each thread.
    if len(cut) > 4 * THREADS or not 0 < whole < count:
        check.complain(0, f"{whole} of {count} traces are whole, {len(cut)} are not")
    if not stats["record-shed"] or stats["record-lost"]:
        check.complain(0, f"{stats['record-shed']} shed, {stats['record-lost']} lost")
    print(f"# {whole} of {count} traces are whole, {len(cut)} are cut, {stats['record-shed']} "
          f"requests were shed, {stats['record-lost']} records lost")
    return check


ROWS = {
    "load": (undisturbed, {}),
    "loss": (undisturbed, {"loss": 2}),
    "stop": (lambda scene: interrupted(scene, signal.SIGTERM), {}),
    "kill": (lambda scene: interrupted(scene, signal.SIGKILL), {}),
    "burst": (burst, {}),
    "keep": (kept, {"sample": "0.01", "options": ("--keep", "errors,slow")}),
}


def run_row(name, build):
    play, given = ROWS[name]
    with tempfile.TemporaryDirectory(prefix="ctxprop-spans-") as folder, Lab("spans") as lab:
        check = play(Scene(lab, build, Path(folder), **given))
        if os.environ.get("KEEP"):
            subprocess.run(["cp", "-r", folder, os.environ["KEEP"]])
    verdict = "not ok" if check.wrong else "ok"
    print(f"{verdict} - {name}: {check.checked} spans of {check.count} requests as they were, "
          f"{check.missing} not there while they may be missing", flush=True)
    for line in check.wrong[:10]:
        print(f"# {line}")
    if len(check.wrong) > 10:
        print(f"# and {len(check.wrong) - 10} more")
    return not check.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (build)")
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], metavar="ROW")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    right = [run_row(name, Path(args.build).resolve()) for name in args.rows or ROWS]
    print(f"{sum(right)} passed, {len(right) - sum(right)} failed, 0 skipped")
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
