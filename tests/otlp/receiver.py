# SPDX-License-Identifier: Apache-2.0
"""The receiver of spans as a process, and what it has got."""
import json
import os
import subprocess
import threading
from pathlib import Path

from waiting import wait_until

PACKAGE, VERSION = "@opentelemetry/otlp-transformer", "0.203.0"  # the last ones that can decode
HERE = Path(__file__).resolve().parent


def definitions():
    """The file with the messages of OTLP, for JavaScript; fetched by npm once, and kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"
    folder = cache / VERSION
    path = folder / "node_modules" / PACKAGE / "build/src/generated/root.js"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts",
                        "--no-audit", "--no-fund", "--silent", f"{PACKAGE}@{VERSION}"],
                       check=True, timeout=120)
    return path


class Request:
    """One request that was read, and the way it was answered."""

    def __init__(self, line):
        self.way, self.time, self.path = line["way"], line["time"], line["path"]
        self.fields, self.port = line["fields"], line["port"]
        self.spans = [Span(span) for span in line["spans"]]


class Span:
    """A span as it was read; attributes by name, each of which may be there once."""

    def __init__(self, line):
        vars(self).update(line)
        self.attributes, self.resource = dict(line["attributes"]), dict(line["resource"])
        self.repeated = len(self.attributes) != len(line["attributes"])
        self.key = self.trace_id, self.span_id, self.kind


class Receiver:
    """Started in a host, where it is at http(s)://127.0.0.1:PORT."""

    def __init__(self, host, port, *certificate):
        self.host, self.port, self.certificate = host, port, certificate
        self.requests, self.logs, self.told = [], [], 0
        self.start()

    def start(self):
        argv = ["node", HERE / "receiver.js", definitions(), self.port, *self.certificate]
        self.process = self.host.spawn(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True)
        threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True).start()
        self.host.wait_port(self.port)

    def read(self, lines):
        for line in lines:
            answer = json.loads(line)
            if "told" in answer:
                self.told += 1
            elif "logs" in answer:
                self.logs += answer["logs"]
            else:
                self.requests.append(Request(answer))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def answer(self, *ways):
        """How to answer to the next requests: "ok" or ("status", 400); see receiver.js."""
        before = self.told
        ways = [[way] if isinstance(way, str) else list(way) for way in ways]
        self.process.stdin.write(json.dumps(ways) + "\n")
        self.process.stdin.flush()
        wait_until(lambda: self.told > before, "the receiver to listen")

    def spans(self, *ways):
        """All spans of the requests that were answered in one of these ways; none: all."""
        return [span for request in list(self.requests) if not ways or request.way in ways
                for span in request.spans]
