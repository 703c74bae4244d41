# SPDX-License-Identifier: Apache-2.0
"""How long it takes until ctxpropd injects, until it is ready, and until it follows a program that begins to listen."""
import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

from machine import resident_kib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from lab import Lab  # noqa: E402

PROGRAMS = HERE / "started"
ADDRESS, PEER, PORT, UPSTREAM = "10.94.0.1", "10.94.0.2", 8080, 8081
LINE = re.compile(r"^(\S+Z) \w+: (.*)$", re.M)
SETTLED_SECONDS = 60
NEVER = 5  # seconds: then a program is not followed
# What a program needs, and how it is started with its port and with where it calls.
STARTED = {
    "node": ("node", lambda made: ["node", PROGRAMS / "server.js", PORT, f"http://{PEER}:{UPSTREAM}/called"]),
    "python": ("python3", lambda made: [shutil.which("python3", path="/usr/bin") or "python3",
                                        PROGRAMS / "server.py", PORT, f"{PEER}:{UPSTREAM}"]),
    "go": ("go", lambda made: [made / "server", PORT, f"http://{PEER}:{UPSTREAM}/called"]),
    "java": ("javac", lambda made: ["java", "-cp", made, "Server", PORT, f"http://{PEER}:{UPSTREAM}/called"]),
}


def make(made):
    """Compile what has to be."""
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", made / "server", PROGRAMS / "server.go"], check=True,
                       env={**os.environ, "GOCACHE": f"{made}/cache", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"})
    if shutil.which("javac"):
        subprocess.run(["javac", "-d", made, PROGRAMS / "Server.java"], check=True)


def pair(lab):
    """(host of the agent and its programs, host of their peers), with a link between them."""
    app, peer = lab.host("app"), lab.host("peer")
    lab.link(app, peer, f"{ADDRESS}/24", f"{PEER}/24")
    return app, peer


def cold(build, settles):
    """(seconds until a device is attached, seconds until it is ready, MiB a minute later or None)"""
    with Lab("cold") as lab:
        app, _ = pair(lab)
        began = datetime.now(timezone.utc)
        agent = Agent(app, build)
        lines = [(datetime.fromisoformat(at.replace("Z", "+00:00")), what) for at, what in LINE.findall(agent.said())]
        attached, ready = (next((at - began).total_seconds() for at, what in lines if re.search(word, f" {what}"))
                           for word in (r" eth0: .* \[device-attached\]$", r" \[ready\]$"))
        if settles:
            time.sleep(SETTLED_SECONDS)
        return attached, ready, resident_kib(agent.process.pid) / 1024 if settles else None


class Upstream:
    """Answers each request at once, and knows which traces came."""

    def __init__(self, host):
        self.traces, self.listener = set(), socket.socket()
        with host.inside():
            self.listener = socket.create_server((PEER, UPSTREAM), backlog=128)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            self.traces |= set(re.findall(rb"(?i)^traceparent: 00-([0-9a-f]{32})-", head, re.M))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


def ask(host, trace):
    """One request on a new connection. Raises OSError while nobody listens."""
    with host.inside():
        client = socket.create_connection((ADDRESS, PORT), timeout=10)
    with client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: app\r\nConnection: close\r\n"
                       b"traceparent: 00-%s-00000000000000a1-01\r\n\r\n" % trace)
        while client.recv(65536):
            pass


def wait_listening(app):
    """When the port is open, as the kernel lists it: nobody connects for that."""
    wanted = re.compile(rf"^ *\d+: [0-9A-F]+:{PORT:04X} [0-9A-F]+:0000 0A ", re.M)
    while True:
        with app.inside():
            tables = [Path(f"/proc/thread-self/net/{name}").read_text(encoding="ascii") for name in ("tcp", "tcp6")]
        if any(map(wanted.search, tables)):
            return time.monotonic()
        time.sleep(0.002)


def until_followed(app, peer, upstream, argv):
    """Seconds from listen() to the begin of the first request whose call is in its trace."""
    process = app.spawn(list(map(str, argv)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    listening, number = wait_listening(app), 0
    try:
        while time.monotonic() < listening + NEVER:
            number += 1
            trace, began = b"%032x" % (0xfeed0000 + number), time.monotonic()
            upstream.traces.clear()
            ask(peer, trace)
            if trace in upstream.traces:
                return began - listening
        return float("inf")
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def busy_processors():
    """Each has something to do all the time."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def followed(build, rounds):
    """{program: ([seconds of the first process after a cold start], [those of later ones], [those behind a daemon that
    has been started again])}, on busy processors."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="ctxprop-started-") as folder:
        make(Path(folder))
        for name, (needs, argv) in STARTED.items():
            if not shutil.which(needs):
                continue
            found[name] = ([], [], [])
            for _ in range(rounds):
                with Lab("started") as lab:
                    app, peer = pair(lab)
                    agent = Agent(app, build)
                    upstream = Upstream(peer)

                    def once(kind):
                        found[name][kind].append(until_followed(app, peer, upstream, argv(Path(folder))))
                    with busy_processors():
                        once(0)
                        once(1)
                        once(1)
                    agent.stop()
                    agent.start()
                    with busy_processors():
                        once(2)
                    upstream.listener.close()
    return found


def values(build, short, progress):
    """{key of a bar: (median, first quartile, third quartile)}"""
    progress("cold starts")
    starts = [cold(build, not short and first) for first in (True, False, False)[:1 if short else 3]]
    progress("programs that begin to listen")
    times = followed(build, 1 if short else 3)
    result = {"cold_attached": statistics.median(start[0] for start in starts),
              "cold_ready": statistics.median(start[1] for start in starts),
              **{key: max(statistics.median(of[kind]) for of in times.values()) * 1000
                 for kind, key in enumerate(("followed_new", "followed_known", "followed_restarted"))}}
    if starts[0][2]:
        result["cold_memory"] = starts[0][2]
    progress("; ".join(f"{name}: " + ", ".join(f"{kind} {[round(one * 1000) for one in of]} ms" for kind, of in
                                               zip(("new", "known", "restarted"), kinds)) for name, kinds in times.items()))
    return {key: (value,) * 3 for key, value in result.items()}
