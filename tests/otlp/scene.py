# SPDX-License-Identifier: Apache-2.0
"""Real traffic for the exporter to tell of:

    curl (client) --> nginx --> a Python service (app) --> a server that records (outside)

ctxpropd and the receiver of spans are in "app".
"""
import json
import os
import re
import string
import subprocess
import sys
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from receiver import Receiver  # noqa: E402
from recorder import Recorder  # noqa: E402
from waiting import wait_until  # noqa: E402

CLIENT, APP_FRONT, APP_BACK, OUTSIDE = "10.52.0.1", "10.52.0.2", "10.52.1.1", "10.52.1.2"
PORT, SERVICE_PORT, RECEIVER_PORT, TLS_PORT = 8080, 9000, 4318, 4319
ATTRIBUTES = "service.version=1.2,k8s.pod.name=cart-0,note=a%20b"  # of the service in Python
SPANS = 5  # of a request: nginx and the service, the call of nginx, two calls of the service
END = re.compile(r"(\d+) given, (\d+) accepted, (\d+) lost(?: \((.*)\))?; (\d+) requests, (\d+).* \[otlp-total\]")


class Scene:
    """The hosts and their servers. The agent is started by run_agent()."""

    def __init__(self, lab, build, folder):
        self.build, self.folder, self.store = build, folder, folder / "ctxprop.db"
        self.services = folder / "services"
        self.client, self.app, outside = map(lab.host, ("client", "app", "outside"))
        lab.link(self.client, self.app, f"{CLIENT}/24", f"{APP_FRONT}/24")
        lab.link(self.app, outside, f"{APP_BACK}/24", f"{OUTSIDE}/24")
        self.recorder = Recorder(outside, OUTSIDE)
        self.app.spawn([sys.executable, HERE.parent / "demo/service.py", SERVICE_PORT, OUTSIDE,
                        self.recorder.port],
                       env={**os.environ, "OTEL_RESOURCE_ATTRIBUTES": ATTRIBUTES})
        conf = string.Template((HERE / "nginx.conf.in").read_text())
        (folder / "nginx.conf").write_text(conf.substitute(folder=folder))
        self.app.spawn(["nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"])
        self.receiver = Receiver(self.app, RECEIVER_PORT)
        for port in (PORT, SERVICE_PORT):
            self.app.wait_port(port)
        self.agent = None

    def run_agent(self, *options):
        """Start the agent, or start it anew, and wait until it follows requests through both."""
        if self.agent:
            self.agent.start(*options)
        else:
            self.agent = Agent(self.app, self.build, *options)
        wait_until(self.is_followed, "requests to be followed", seconds=60)

    def is_followed(self):
        """Send some requests: was every call made for one of them, as the agent sees it?"""
        before = self.agent.stats()["by-none"]
        self.get("/warm-up", 5)
        return self.agent.stats()["by-none"] == before

    def get(self, path, count=1, *arguments, status="200"):
        """So many requests by one client, one after the other on one connection."""
        done = self.client.run(["curl", "-sS", "--max-time", "50", "-o", "/dev/null", "-w",
                                "%{http_code}\n", *arguments,
                                f"http://{APP_FRONT}:{PORT}{path}?key=secret&n=[1-{count}]"])
        if set(done.stdout.split()) != {status}:
            raise AssertionError(f"{path}: {set(done.stdout.split())}")
        return True

    def flood(self, path, seconds):
        """As many requests as can be; returns how many there were."""
        done = self.client.run(["wrk", "-t1", "-c8", f"-d{seconds}s",
                                f"http://{APP_FRONT}:{PORT}{path}"])
        return int(re.search(r"(\d+) requests in", done.stdout)[1])

    def stored(self, *argv):
        """Spans of the store, as `ctxprop trace -j` tells them."""
        traces = json.loads(self.agent.command("trace", "--store", self.store, "-n", "100000",
                                               "-j", *argv))
        return [{**span, "trace_id": trace["trace_id"]} for trace in traces
                for span in trace["spans"]]

    def make_certificate(self):
        """(key, certificate) of the receiver."""
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=receiver", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                        "-out", certificate], check=True, capture_output=True)
        return key, certificate

    def times(self, pattern):
        """When the agent has logged lines that fit, in seconds."""
        return [datetime.fromisoformat(line.split()[0].rstrip("Z")).timestamp()
                for line in self.agent.said().splitlines() if re.search(pattern, line)]

    def seconds_of_end(self):
        """How long the agent took from the end of its work until what waited was sent or lost."""
        return self.times(END)[-1] - self.times(r" \[stopped\]$")[-1]

    def end_agent(self):
        """Stop it; returns what it tells of its spans: {given, accepted, lost, requests, ...}."""
        if status := self.agent.stop():
            raise AssertionError(f"exit status {status}\n{self.agent.said()}")
        found = END.search(self.agent.said())
        if not found:
            raise AssertionError(f"no counts:\n{self.agent.said()}")
        given, accepted, lost, reasons, requests, again = found.groups()
        counts = {"given": given, "accepted": accepted, "lost": lost, "requests": requests,
                  "again": again}
        counts.update(reason.split() for reason in (reasons or "").split(", ") if reason)
        return {name: int(count) for name, count in counts.items()}
