#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ids in log lines against the truth: clients know the trace of each request, lines its number.

    logs.py [--build DIR] [--count N] [--in-flight N]... [--pause S] [ROW...]

Rows: threads, prefork, pool, reader, select, async (services,
see app.py), node (app.js). For each: lines that were written
while the request was open and have its ids (right), or none; lines with the ids of another one, or
of a thread beside all requests (wrong). Of wrong ones there must be none; all else must be the same
byte by byte.
"""
import argparse
import collections
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from lab import Lab  # noqa: E402

CLIENT, SERVER, PORT, UPSTREAM_PORT = "10.98.1.1", "10.98.1.2", 8000, 9000
ROWS = ("threads", "prefork", "pool", "reader", "select", "async", "node")
SURE = {"threads": 1, "prefork": 4}  # rows of which most lines must have ids: their processes,
UNPROVEN = 33  # of whose first requests lines need not,
SURE_SHARE = 0.6  # and of the others so many
PER_CONNECTION = 10
SETTLE_SECONDS = 0.5  # until the last spans are stored
VERDICTS = ("right", "none", "wrong")
IDS = re.compile(r' trace_id=([0-9a-f]{32}) span_id=[0-9a-f]{16}(?=\r?\n)'
                 r'|,"trace_id":"([0-9a-f]{32})","span_id":"[0-9a-f]{16}"(?=\}\n)')
JOURNAL_IDS = re.compile(r',"TRACE_ID":"([0-9a-f]{32})","SPAN_ID":"[0-9a-f]{16}"(?=\}$)')
NUMBER = re.compile(r'number(?:=|\\?": )(\d+)')


class Upstream:
    """A server that the services ask, thread per connection, in the host of the clients."""

    def __init__(self, host):
        with host.inside():
            self.listener = socket.create_server((CLIENT, UPSTREAM_PORT), backlog=128)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],)).start()

    @staticmethod
    def serve(sock):
        with sock:
            sock.recv(4096)
            time.sleep(0.001)
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


class Clients:
    """Threads that ask, each a part of the numbers, on connections for some requests each."""

    def __init__(self, host, count, in_flight, pause):
        self.traces, self.pause = {}, pause
        self.threads = [threading.Thread(target=self.run, args=(host, range(i, count, in_flight)))
                        for i in range(in_flight)]

    def run(self, host, numbers):
        for i in range(0, len(numbers), PER_CONNECTION):
            with host.inside():
                sock = socket.create_connection((SERVER, PORT), timeout=30)
            with sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for number in numbers[i:i + PER_CONNECTION]:
                    self.ask(sock, number)
                    time.sleep(self.pause)

    def ask(self, sock, number):
        self.traces[number] = trace = os.urandom(16).hex()
        sock.sendall(f"GET /item/{number} HTTP/1.1\r\nHost: app\r\n"
                     f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
        if not sock.recv(4096).endswith(b"ok"):
            raise AssertionError(f"no answer to request {number}")

    def all(self):
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()


class Service:
    """A service below `ctxprop logs`, and what came out."""

    def __init__(self, host, build, folder, kind):
        self.files = [folder / f"{kind}.{fd}" for fd in (1, 2)]
        self.log = folder / f"{kind}.log"
        outputs = [open(file, "wb") for file in self.files]
        program = ["node", HERE / "app.js"] if kind == "node" else \
            [sys.executable, HERE / "app.py", kind]
        self.process = host.spawn([f"{build}/ctxprop", "logs", "-s", "--", *program, PORT, self.log,
                                   CLIENT, UPSTREAM_PORT],
                                  stdout=outputs[0], stderr=outputs[1])
        host.wait_port(PORT)

    def stop(self):
        """End it: the signal is for `ctxprop logs` alone. Workers of a prefork server go, too."""
        self.process.terminate()
        status = self.process.wait(timeout=30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return status

    def lines(self):
        """[(descriptor, line)] that came out, without what `ctxprop logs` itself says."""
        return [(fd, line) for fd, file in enumerate(self.files, 1)
                for line in file.read_bytes().decode().splitlines(keepends=True)
                if not line.startswith("ctxprop: logs:")]

    def written(self):
        """[(descriptor, line, pid, tid, us)] as the service has written them."""
        return [tuple(json.loads(line)) for line in self.log.read_text().splitlines()]

    def journal(self, with_tid):
        """The same as the journal would print them if the service logged there."""
        for _, line, pid, tid, us in self.written():
            yield json.dumps({"_PID": str(pid), "_SOURCE_REALTIME_TIMESTAMP": str(us),
                              "MESSAGE": line, **({"TID": str(tid)} if with_tid else {})})


def show(what, tally):
    told = [" ".join([name, *(f"{verdict} {tally[name, verdict]}" for verdict in VERDICTS)])
            for name in ("open", "after", "beside")]
    print(f"{what}: {', '.join(told)}", flush=True)


def judge(line, traces, ids=IDS):
    """(kind of the line, right, none or wrong)"""
    found, number = ids.search(line), NUMBER.search(line)
    trace = next(filter(None, found.groups())) if found else None
    kind = "beside" if not number else "after" if " is over" in line else "open"
    if not trace:
        return kind, "none"
    return kind, "right" if number and traces.get(int(number[1])) == trace else "wrong"


def compare(service):
    """All but the ids has to be the same. (The last lines of a service that is ended may be in
    one of the two places only.)"""
    out = collections.Counter((fd, IDS.sub("", line)) for fd, line in service.lines())
    written = collections.Counter(entry[:2] for entry in service.written())
    other = [(place, entry) for place, entries in (("out", out - written), ("in", written - out))
             for entry in entries.elements() if not entry[1].startswith("beat")]
    if other:
        raise AssertionError(f"lines were changed, or lost: {other[:5]}")


def run_row(host, client, build, store, kind, in_flight, count, pause):
    with tempfile.TemporaryDirectory(prefix="logs-") as folder:
        service = Service(host, build, Path(folder), kind)
        clients = Clients(client, count, in_flight, pause)
        clients.all()
        time.sleep(SETTLE_SECONDS)
        past = [judge_journal(host, build, service, with_tid, store, clients.traces)
                for with_tid in (False, True)]
        status = service.stop()
        tally = collections.Counter(judge(line, clients.traces) for _, line in service.lines())
        compare(service)
    show(f"{kind:8} {in_flight:3} in flight", tally)
    for words, found in zip(("pid", "pid and tid"), past):
        show(f"    journal by {words}", found)
        wrong = sum(n for (_, verdict), n in found.items() if verdict == "wrong")
        if wrong or kind in SURE and words == "pid and tid" and not found["open", "right"]:
            print(f"not ok: {kind}: the journal by {words}")
            return False
    return check(kind, count, status, tally)


def judge_journal(host, build, service, with_tid, store, traces):
    """Entries of the journal, with ids out of the store."""
    entries = list(service.journal(with_tid))
    told = host.run([f"{build}/ctxprop", "logs", "--journal", "--stdin", "--store", store],
                    input="".join(f"{entry}\n" for entry in entries)).stdout.splitlines()
    if [JOURNAL_IDS.sub("", entry) for entry in told] != entries:
        raise AssertionError("entries of the journal were changed, or lost")
    return collections.Counter(judge(entry, traces, JOURNAL_IDS) for entry in told)


def check(kind, count, status, tally):
    wrong = sum(n for (_, verdict), n in tally.items() if verdict == "wrong")
    right = tally["open", "right"]
    lines = right + tally["open", "none"] + tally["open", "wrong"]
    problems = []
    if wrong:
        problems.append(f"{wrong} lines with ids of another request, or of none")
    if lines != 4 * count:
        problems.append(f"{lines} lines of open requests, not {4 * count}")
    if right < SURE_SHARE * (lines - 4 * UNPROVEN * SURE[kind] if kind in SURE else 0):
        problems.append(f"only {right} of {lines} lines have ids")
    if status != -signal.SIGTERM:
        problems.append(f"it ended with {status}, not as its program did")
    for problem in problems:
        print(f"not ok: {kind}: {problem}")
    return not problems


def passed(host, build, program, **kw):
    """Run a shell program below `ctxprop logs`."""
    return host.run([f"{build}/ctxprop", "logs", "--", "sh", "-c", program], check=False,
                    text=False, **kw)


def check_program(host, build):
    """Bytes, order, status and signals are those of the program."""
    order = "".join(f"{i}\n" for i in range(200)).encode()
    mixed = passed(host, build, "for i in $(seq 0 2 198); do echo $i; echo $((i + 1)) >&2; done",
                   stderr=subprocess.STDOUT)
    noise = os.urandom(3_000_000)
    through = passed(host, build, "cat", input=noise)
    killed = passed(host, build, "kill -USR1 $$")
    asked = passed(host, build, "trap 'echo told; exit 7' TERM; kill -TERM $PPID; "
                                "while :; do sleep 0.01; done")
    missing = host.run([f"{build}/ctxprop", "logs", "--", "/no/such"], check=False)
    unread = host.run(["bash", "-c", f"{build}/ctxprop logs -- yes | head -n1; exit ${{PIPESTATUS[0]}}"],
                      check=False, text=False)
    in_order = b"".join(line for line in mixed.stdout.splitlines(keepends=True)
                        if not line.startswith(b"ctxprop: logs: lines get no ids"))
    facts = {"two outputs that are one file stay in order": in_order == order,
             "any bytes pass": through.stdout == noise,
             "a signal that ends it is told": killed.returncode == -signal.SIGUSR1,
             "a signal is passed on, and its status": (asked.returncode, asked.stdout) ==
                                                      (7, b"told\n"),
             "what is not there": missing.returncode == 127 and "/no/such" in missing.stderr,
             "nobody reads": (unread.returncode, unread.stdout) == (128 + signal.SIGPIPE, b"y\n")}
    for fact, holds in facts.items():
        if not holds:
            print(f"not ok: {fact}")
    print(f"program: {sum(facts.values())} of {len(facts)} as it should be", flush=True)
    return all(facts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, action="append")
    parser.add_argument("--pause", type=float, default=0, metavar="S",
                        help="seconds between two requests of a client (0)")
    parser.add_argument("rows", nargs="*", metavar="ROW", default=ROWS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="logs-") as folder, Lab("logs") as lab:
        client, host = lab.host("client"), lab.host("app")
        lab.link(client, host, f"{CLIENT}/24", f"{SERVER}/24")
        good = [check_program(host, args.build)]  # without an agent: all passes
        Upstream(client)
        store = Path(folder) / "spans.db"
        Agent(host, args.build, "--store", store)
        good += [check_program(host, args.build)]
        good += [run_row(host, client, args.build, store, kind, in_flight, args.count,
                         args.pause)
                for kind in args.rows for in_flight in args.in_flight or (1, 8)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
