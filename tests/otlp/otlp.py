#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Spans by OTLP/HTTP: real traffic, and a receiver that reads with OpenTelemetry's own definitions
and answers well, badly, late or not at all. Prints one line per case.

    otlp.py [--build DIR]
"""
import argparse
import email.utils
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from scene import APP_FRONT, CLIENT, PORT, RECEIVER_PORT, SPANS, TLS_PORT, Scene

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "lab"))
from lab import Lab  # noqa: E402 (the path is set just above)
from receiver import Receiver  # noqa: E402
from waiting import wait_until  # noqa: E402

SKIP_STATUS = 77
SERVER, CLIENT_KIND, ERROR = 2, 3, 2
KNOWN = 0x103  # flags: sampled, of a random trace id, and whether the parent is elsewhere is known
REMOTE = 0x200
ROOM, BATCH = 8192, 512  # spans that wait; spans of one request
FLOOD_SECONDS = 4  # and the receiver is waited for for 10
END_SECONDS = 3  # two for what waits, and the last turn of the tracer
TAKEN = ("ok", "partial", "nonsense")  # whole answers of 2xx
UNSURE = ("garbage", "hang_up", "late", "endless", "cut", "stalled")  # no answer, or not all of it


def check(holds, what):
    if not holds:
        raise AssertionError(what() if callable(what) else what)


def twice(spans):
    """Keys of spans that are there more than once."""
    keys = [span.key for span in spans]
    return {key for key in keys if keys.count(key) > 1} if len(keys) != len(set(keys)) else set()


class Run:
    """The cases, in order: each leaves the agent and the receiver to the next one."""

    def __init__(self, scene):
        self.scene, self.receiver, self.agent = scene, scene.receiver, None
        self.tls = None

    def got(self, path, *ways):
        """Spans that tell of requests for a path, and of the calls made for these."""
        return [span for span in self.receiver.spans(*ways)
                if path in span.attributes.get("url.path", "")]

    def send(self, path, count, *ways):
        """Requests for a path; returns when all of their spans have come with one of the answers."""
        self.scene.get(path, count)
        wait_until(lambda: len({span.key for span in self.got(path, *ways)}) >= SPANS * count,
                   lambda: f"{len(self.got(path, *ways))} spans of {path}\n{self.agent.said()}",
                   seconds=30)

    def begins(self):
        """The environment names the receiver, and spans come"""
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{RECEIVER_PORT}"
        self.scene.services.write_text("# nothing yet\n")
        self.scene.run_agent("--store", self.scene.store, "--services", self.scene.services)
        del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
        self.agent = self.scene.agent
        wait_until(lambda: self.got("/warm-up"), self.agent.said, seconds=30)
        request = self.receiver.requests[0]
        check(request.path == "/v1/traces", request.path)
        check(request.fields["content-type"] == "application/x-protobuf", request.fields)

    def same_as_stored(self):
        """Each request is there once, with the ids, times and parents of the store"""
        self.send("/items/17", 20)
        spans = self.got("/items/17")
        stored = {(span["trace_id"], span["span_id"], {"server": 2, "client": 3}[span["kind"]]): span
                  for span in self.scene.stored("--endpoint", "*/items/17")}
        check(len(spans) == 20 * SPANS and not twice(spans), f"{len(spans)} spans")
        check({span.key for span in spans} == set(stored), "other ids than in the store")
        for span in spans:
            there = stored[span.key]
            begin, end = int(span.start_ns), int(span.end_ns)
            check(span.parent_id == there.get("parent_id", ""), f"{span.key}: parent")
            check((begin, end - begin) == (there["start_ns"], there["duration_ns"]), "times")
            check(abs(begin / 1e9 - time.time()) < 60, f"{begin} is not now")
            check(span.resource["service.name"] == there["service"], span.resource)

    def trees(self):
        """Calls have the span that made them as parent, and what is served that of the call"""
        by_trace = {}
        for span in self.got("/items/17"):
            by_trace.setdefault(span.trace_id, []).append(span)
        check(len(by_trace) == 20, f"{len(by_trace)} traces")
        for spans in by_trace.values():
            levels = [[span for span in spans if not span.parent_id]]
            while above := {span.span_id for span in levels[-1]}:
                levels.append([span for span in spans if span.parent_id in above])
            kinds = [[span.kind for span in level] for level in levels]
            check(kinds == [[SERVER], [CLIENT_KIND], [SERVER], [CLIENT_KIND] * 2, []], kinds)
            flags = [level[0].flags for level in levels[:4]]
            check(flags == [KNOWN, KNOWN, KNOWN | REMOTE, KNOWN], flags)

    def attributes_of_served(self):
        """What is served has the attributes of the conventions"""
        span = next(span for span in self.got("/items/17") if not span.parent_id)
        pid, client_port = span.attributes["process.pid"], span.attributes["client.port"]
        size = (span.attributes["http.request.size"], span.attributes["http.response.size"])
        agent = span.attributes["user_agent.original"]
        check(span.name == "GET /items/{id}", span.name)
        check(span.status == 0 and not span.repeated, span.attributes)
        check(span.attributes == {
            "http.request.method": "GET", "url.scheme": "http", "url.path": "/items/17",
            "http.route": "/items/{id}", "http.response.status_code": 200,
            "user_agent.original": agent, "http.request.size": size[0],
            "http.response.size": size[1], "server.address": APP_FRONT, "server.port": PORT,
            "client.address": CLIENT, "client.port": client_port, "network.peer.address": CLIENT,
            "network.peer.port": client_port, "network.local.address": APP_FRONT,
            "network.local.port": PORT, "process.pid": pid}, span.attributes)
        check(agent.startswith("curl/") and 50 < size[0] < 300 < size[1], (agent, size))
        check("nginx" in Path(f"/proc/{pid}/cmdline").read_text(), pid)
        check(span.resource == {"service.name": "nginx", "host.name": os.uname().nodename,
                                "telemetry.sdk.name": "ctxprop",
                                "telemetry.sdk.version": self.version()}, span.resource)
        check(span.scope == ["ctxprop", self.version()], span.scope)

    def version(self):
        return self.agent.command("--version").split()[1]

    def attributes_of_calls(self):
        """So have calls, and they say why they have the trace that they have"""
        span = next(span for span in self.got("/new/items/17") if span.kind == CLIENT_KIND)
        recorder = self.scene.recorder
        expected = {
            "http.request.method": "GET", "url.scheme": "http", "url.path": "/new/items/17",
            "url.full": f"http://{recorder.address}:{recorder.port}/new/items/17",
            "http.response.status_code": 200, "server.address": recorder.address,
            "server.port": recorder.port, "network.peer.address": recorder.address,
            "network.peer.port": recorder.port, "ctxprop.header": "injected",
            "ctxprop.evidence": "by-thread"}
        check(span.name == "GET", span.name)
        check(expected.items() <= span.attributes.items(), span.attributes)
        check(not {"http.route", "client.address", "ctxprop.veto"} & set(span.attributes),
              span.attributes)
        check("secret" not in str(vars(span)), "the query is told")

    def errors(self):
        """Errors and unusual methods are told as the conventions say"""
        self.scene.get("/broken", 1, "-X", "PURGE", status="503")
        wait_until(lambda: self.got("/broken"), self.agent.said)
        span, = self.got("/broken")
        check(span.status == ERROR and span.name == "HTTP /broken", (span.status, span.name))
        expected = {"http.request.method": "_OTHER", "http.request.method_original": "PURGE",
                    "error.type": "503", "http.response.status_code": 503}
        check(expected.items() <= span.attributes.items(), span.attributes)

    def name_services(self, text, said):
        """Write the file of services and have it read."""
        before = self.agent.said().count(said)
        self.scene.services.write_text(text)
        self.agent.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.agent.said().count(said) > before, self.agent.said)

    def services(self):
        """Services are called as a file says; a bad file changes nothing"""
        self.name_services("match comm=nginx set service.name=front service.namespace=the%20shop\n"
                           "match cgroup=* exe=*python* set service.name=cart\n", "[services-loaded]")
        self.name_services("match set service.name=wrong\nmatch comm\n",
                           f"{self.scene.services}:2: 'comm': expected KEY=PATTERN")
        self.send("/named", 1)
        served = {span.resource["service.name"]: span.resource for span in self.got("/named")
                  if span.kind == SERVER}
        check(set(served) == {"front", "cart"}, served)
        check(served["front"]["service.namespace"] == "the shop", served)
        told = {"service.version": "1.2", "k8s.pod.name": "cart-0", "note": "a b"}
        check(told.items() <= served["cart"].items(), served)
        self.name_services("", "[services-loaded]")

    def no_loop(self):
        """Sending spans makes no spans, although the receiver is served here, too"""
        self.send("/before", 1)
        count = len(self.receiver.requests)
        time.sleep(3)  # three times what spans wait for others
        check(len(self.receiver.requests) == count, f"{len(self.receiver.requests) - count} more")
        check(not self.got("/v1/traces"), "spans of the exporter")
        paths = {span["path"] for span in self.scene.stored()}
        check("/before" in paths and "/v1/traces" not in paths, paths)
        check(all(request.fields["traceparent"].endswith("-00")
                  for request in self.receiver.requests), "its traces are sampled")

    def retries(self):
        """502, 503 and 429 are tried again, not before Retry-After says so"""
        date = int(time.time()) + 6
        self.receiver.answer(("status", 502), ("wait", [503, "2"]),
                             ("wait", [429, email.utils.formatdate(date, usegmt=True)]))
        first = len(self.receiver.requests)
        self.send("/again", 4, *TAKEN)
        tries = self.receiver.requests[first:first + 4]
        keys = [[span.key for span in request.spans] for request in tries]
        times = [request.time for request in tries]
        check(keys[0] == keys[1] == keys[2] == keys[3], "other spans are sent again")
        check(0.4 < times[1] - times[0] < 5, f"back-off: {times[1] - times[0]:.1f} s")
        check(times[2] - times[1] >= 2, f"Retry-After: 2: {times[2] - times[1]:.1f} s")
        check(times[3] >= date, f"{date - times[3]:.1f} s before the date")

    def no_hurry(self):
        """A receiver that asks for no wait at all gets the usual one"""
        past = email.utils.formatdate(time.time() - 3600, usegmt=True)
        first = len(self.receiver.requests)
        self.receiver.answer(("wait", [503, "0"]), ("wait", [429, past]), ("wait", [502, "0"]))
        self.send("/hurry", 1, *TAKEN)
        times = [request.time for request in self.receiver.requests[first:first + 4]]
        pauses = [after - before for before, after in zip(times, times[1:])]
        check(all(pause > least for pause, least in zip(pauses, (0.4, 0.9, 1.9))), pauses)

    def bad_answers(self):
        """Refusals, nonsense, answers without end and none at all: nothing is sent twice"""
        elsewhere = f"http://127.0.0.1:{RECEIVER_PORT}/elsewhere"
        ways = (("status", 400), ("redirect", elsewhere), ("partial", 3), "nonsense", "endless",
                "cut", "stalled", "garbage", "ok", "hang_up")
        for way in ways:
            name = way if isinstance(way, str) else way[0]
            self.receiver.answer(way)
            self.send(f"/{name}/x", 1)
            check(self.got(f"/{name}/x", name), f"no answer was {name}")
        before, broken = [request for request in self.receiver.requests
                          if request.spans[0].key in {span.key for name in ("/ok/x", "/hang_up/x")
                                                      for span in self.got(name)}][-2:]
        check(before.port == broken.port, "hung up on a new connection, not on one that was kept")
        check("/elsewhere" not in {request.path for request in self.receiver.requests},
              "it was redirected")

    def slow(self):
        """A receiver that does not answer holds nobody up; what finds no room is lost"""
        self.receiver.answer(("late", 20))
        self.send("/slow", 1)
        count = self.scene.flood("/fast", FLOOD_SECONDS)
        begin = time.monotonic()
        self.agent.command("stats")
        took = time.monotonic() - begin
        check(took < FLOOD_SECONDS, f"ctxprop stats took {took:.1f} s")
        check(count > ROOM + BATCH, f"only {count} requests: too few to overflow anything")
        wait_until(lambda: len(self.got("/fast", "ok")) >= ROOM * 3 // 4, self.agent.said, seconds=30)
        check(max(len(request.spans) for request in self.receiver.requests) == BATCH, "batches")

    def is_calm(self):
        """Nothing is shed any more: all spans come of ten requests."""
        path, count = f"/calm/{time.monotonic_ns()}/x", 10
        self.scene.get(path, count)
        end = time.monotonic() + 3
        while len(self.got(path, "ok")) < count * SPANS and time.monotonic() < end:
            time.sleep(0.1)
        return len(self.got(path, "ok")) == count * SPANS

    def losses(self):
        """What was lost is told of as log records: each reason once a minute at most"""
        wait_until(lambda: self.told("otlp-queue-full"), self.agent.said, seconds=30)
        by_reason = {}
        for log in self.receiver.logs:
            by_reason.setdefault(dict(log["attributes"])["ctxprop.reason"], []).append(log)
        check(self.told("otlp-rejected") == 3, by_reason)
        for reason, logs in by_reason.items():
            times = [int(log["time_ns"]) for log in logs]
            check(all(b - a >= 59e9 for a, b in zip(times, times[1:])), (reason, times))
            count = dict(logs[0]["attributes"])["ctxprop.count"]
            check(logs[0]["body"] == f"lost since the last such record: {count} ({reason})", logs)
            check(logs[0]["severity"] == [13, "WARN"], logs)
            check(abs(times[0] / 1e9 - time.time()) < 600 and
                  logs[0]["observed_ns"] == logs[0]["time_ns"], logs)
            check(dict(logs[0]["resource"]) == {
                "service.name": "ctxpropd", "service.version": self.version(),
                "host.name": os.uname().nodename}, logs)
            check(logs[0]["scope"] == ["ctxprop", self.version()], logs)

    def told(self, reason):
        """How many log records have told to be lost."""
        attributes = [dict(log["attributes"]) for log in self.receiver.logs]
        return sum(told["ctxprop.count"] for told in attributes if told["ctxprop.reason"] == reason)

    def receiver_restarts(self):
        """Spans wait for a receiver that is away"""
        wait_until(self.is_calm, self.agent.said, seconds=60)
        told = self.agent.said().count("[otlp-retry]")
        self.receiver.kill()
        self.scene.get("/away", 3)
        wait_until(lambda: self.agent.said().count("[otlp-retry]") > told, self.agent.said)
        self.receiver.start()
        wait_until(lambda: len(self.got("/away")) >= 3 * SPANS, self.agent.said, seconds=30)

    def counted(self):
        """At the end every span is accounted for, exactly, and none has been taken twice"""
        counts = self.scene.end_agent()
        taken = self.receiver.spans(*TAKEN)
        seen = {span.key for span in self.receiver.spans()}
        with sqlite3.connect(self.scene.store) as store:
            stored, = store.execute("SELECT count(*) FROM spans").fetchone()
        expected = {
            "given": stored, "accepted": len(taken) - 3, "rejected": 3,
            "refused": sum(len(request.spans) for request in self.receiver.requests
                           if request.way == "redirect" or
                           (request.way, len(self.retried(request))) == ("status", 0)),
            "unconfirmed": len(self.receiver.spans(*UNSURE)),
            "queue-full": stored - len(seen),
        }
        expected["lost"] = sum(expected[why] for why in ("rejected", "refused", "unconfirmed",
                                                         "queue-full"))
        check({name: counts.get(name) for name in expected} == expected, f"{counts}\n{expected}")
        check(counts["queue-full"] > 0 and counts["given"] == counts["accepted"] + counts["lost"],
              counts)
        check(not twice(taken), f"taken twice: {len(twice(taken))}")
        unsure = {span.key for span in self.receiver.spans(*UNSURE)}
        check(not unsure & {span.key for span in taken}, "sent again although it had arrived")
        warned = self.scene.times("warning: spans for .* lost")
        check(warned and all(after - before >= 59 for before, after in zip(warned, warned[1:])),
              f"warnings at {warned}: more than one a minute, or none")

    def retried(self, request):
        """Spans of a request that came again later."""
        later = self.receiver.requests[self.receiver.requests.index(request) + 1:]
        keys = {span.key for span in request.spans}
        return [span for other in later for span in other.spans if span.key in keys]

    def secured(self):
        """By TLS, with fields out of a file; a certificate that nobody vouches for is not trusted"""
        key, certificate = self.scene.make_certificate()
        fields = self.scene.folder / "fields"
        fields.write_text("# of the receiver\nX-Key: open sesame\n")
        fields.chmod(0o600)
        self.tls = self.receiver = Receiver(self.scene.app, TLS_PORT, key, certificate)
        options = ("--otlp", f"https://127.0.0.1:{TLS_PORT}", "--otlp-headers", fields)
        self.agent.start(*options)
        wait_until(lambda: self.scene.get("/mistrusted") and "[otlp-retry]" in self.agent.said(),
                   self.agent.said)
        counts = self.scene.end_agent()
        check(counts["accepted"] == 0 and counts["ended"] == counts["given"] > 0, counts)
        check(not self.tls.requests, "sent to a stranger")
        self.scene.run_agent(*options, "--otlp-ca", certificate)
        self.send("/secured", 1)
        check({request.fields["x-key"] for request in self.tls.requests} == {"open sesame"}, "keys")

    def ends_in_time(self):
        """It ends in time although the receiver is slow; what is left is counted"""
        self.receiver.answer(*[("late", 20)] * 50)
        self.send("/in-flight", 1)
        self.scene.get("/waiting", 4)
        counts = self.scene.end_agent()
        took = self.scene.seconds_of_end()
        check(took < END_SECONDS, f"{took:.1f} s")
        check(counts["unconfirmed"] == len(self.receiver.spans("late")), counts)
        check(counts["accepted"] == len(self.receiver.spans("ok")), counts)
        check(counts["given"] == counts["accepted"] + counts["lost"], counts)
        check(counts["ended"] >= 4 * SPANS, counts)

    def open_file(self):
        """Keys that everybody may read are not used: nothing is sent"""
        fields = self.scene.folder / "fields"
        fields.chmod(0o644)
        self.agent.stop()
        self.agent.start("--otlp", f"https://127.0.0.1:{TLS_PORT}", "--otlp-headers", fields)
        wait_until(lambda: "[otlp-failed]" in self.agent.said(), self.agent.said)
        self.agent.stop()

    CASES = (begins, same_as_stored, trees, attributes_of_served, attributes_of_calls, errors,
             services, no_loop, retries, no_hurry, bad_answers, slow, losses, receiver_restarts, counted, secured,
             ends_in_time, open_file)

    def do(self, case):
        """Returns what went wrong, or None."""
        try:
            case(self)
        except (AssertionError, KeyError, OSError, RuntimeError, StopIteration, ValueError,
                subprocess.SubprocessError):
            return traceback.format_exc(limit=-3)
        return None


def play(build):
    """All cases; returns how many have failed. The later ones need what the first one does."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ctxprop-otlp-") as folder, Lab("otlp") as lab:
        run = Run(Scene(lab, build, Path(folder)))
        for number, case in enumerate(Run.CASES, 1):
            begin = time.monotonic()
            wrong = run.do(case)
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {case.__doc__} "
                  f"({time.monotonic() - begin:.1f} s)", flush=True)
            if wrong:
                print("".join(f"# {line}\n" for line in wrong.splitlines()[:40]), end="", flush=True)
            if wrong and case is Run.begins:
                break
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=REPO / "build", help="build folder")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for variable in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        os.environ.pop(variable, None)
    if missing := [name for name in ("node", "npm") if not shutil.which(name)]:
        print(f"skip otlp: {', '.join(missing)} not found")
        return SKIP_STATUS
    return int(play(os.path.abspath(args.build)) > 0)


if __name__ == "__main__":
    sys.exit(main())
