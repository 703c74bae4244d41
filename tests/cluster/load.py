# SPDX-License-Identifier: Apache-2.0
"""Requests over connections that are kept, each held against what it should have become."""
import hashlib
import json
import os
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))

import oracle  # noqa: E402
from http1 import Reader, read_response  # noqa: E402
from streams import connect  # noqa: E402

SIZES = (0, 0, 0, 200, 3000, 60_000)
SMALL = 200  # of these: fits into one packet with all that may be added
HOSTS = ("a.test", "b.inner.test")
PAUSE_SECONDS = 0.01


class Rules:
    """The policies that are in force, and since when."""

    def __init__(self):
        self.number, self.policies = 0, {}

    def begin_change(self):
        self.number += 1

    def end_change(self, policies):
        self.policies = policies
        self.number += 1

    def settled(self):
        return self.number % 2 == 0


class Connection(threading.Thread):
    """Requests from a pod to one address, until stop(). What went wrong is in `wrong`."""

    def __init__(self, cluster, rules, pod, address, port):
        super().__init__(daemon=True)
        self.rules, self.pod, self.to = rules, pod, (address, port)
        self.hops = cluster.hops(pod, address)
        self.sock = connect(pod.host, self.to)
        self.reader = Reader(self.sock.recv)
        self.stopping, self.wrong = threading.Event(), []
        self.sent = self.judged = 0
        self.start()

    def run(self):
        try:
            while not self.stopping.is_set() and not self.wrong:
                self.exchange()
                time.sleep(PAUSE_SECONDS)
        except (OSError, EOFError, ValueError) as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
        finally:
            self.sock.close()

    def stop(self):
        self.stopping.set()
        self.join()

    def exchange(self):
        host, body = random.choice(HOSTS), os.urandom(random.choice(SIZES))
        own = f"00-{os.urandom(16).hex()}-{os.urandom(8).hex()}-01" if random.random() < .5 else ""
        target = f"/{self.pod.name}/{self.sent}"
        head = (f"POST {target} HTTP/1.1\r\nHost: {host}\r\n" +
                (f"traceparent: {own}\r\n" if own else "") + f"Content-Length: {len(body)}\r\n\r\n")
        number, policies = self.rules.number, self.rules.policies
        settled = self.rules.settled()
        self.sock.sendall(head.encode() + body)
        got = json.loads(read_response(self.reader)[1])
        self.sent += 1
        same = (got["target"], got["sha256"]) == (target, hashlib.sha256(body).hexdigest())
        if not same or len(got["traceparents"]) > 1:
            self.wrong.append(f"{target} of {len(body)} bytes arrived as {got}")
        elif settled and number == self.rules.number:
            self.judge(policies, own, got["traceparents"], host, len(body) <= SMALL)

    def judge(self, policies, own, got, host, whole):
        state = oracle.OWN if own else oracle.NONE
        wanted = oracle.expected(policies, self.hops, state, *self.to, host, whole)
        arrived = oracle.NONE if not got else oracle.OWN if got == [own] else oracle.MADE
        self.judged += 1
        if arrived not in wanted:
            said = [policies[agent].action(way, source, *self.to, host)
                    for agent, way, source in self.hops if agent in policies]
            self.wrong.append(f"{self.pod.name} to {self.to} ({host}), sent with {own or 'none'}, "
                              f"rules {said}: expected {' or '.join(wanted)}, got {got}")


class Load:
    """The connections of all pods."""

    def __init__(self, cluster):
        self.cluster, self.rules, self.connections, self.over = cluster, Rules(), [], []

    def add(self, pod, *ends):
        for end in ends:
            self.connections.append(Connection(self.cluster, self.rules, pod, *end))

    def stop(self, of=None):
        """End the connections for which `of` says so; all of them without it."""
        ending = [c for c in self.connections if of is None or of(c)]
        for connection in ending:
            connection.stop()
            self.connections.remove(connection)
        self.over += ending

    def wrong(self):
        return [line for c in (*self.connections, *self.over) for line in c.wrong]

    def count(self):
        """(requests, those that were judged)"""
        every = (*self.connections, *self.over)
        return sum(c.sent for c in every), sum(c.judged for c in every)

    def run(self, requests):
        """Wait until each connection has sent so many more."""
        goal = {c: c.sent + requests for c in self.connections}
        end = time.monotonic() + 30
        while any(c.sent < n and not c.wrong for c, n in goal.items()):
            if time.monotonic() > end:
                stuck = [f"{c.pod.name} to {c.to}" for c, n in goal.items() if c.sent < n]
                raise TimeoutError(f"connections stand still: {stuck}")
            time.sleep(0.01)
