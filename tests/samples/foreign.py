# SPDX-License-Identifier: Apache-2.0
"""The table "map": does traces_ctx_v1 hold the request that a thread works on, for a reader that is not ctxprop's?

The reader is profile_sampler, which does what the OpenTelemetry profiler does. What is true stands in a file that the program
writes: which thread has burned for which request, and when. Verdicts: right, wrong (any other request), none; nothing and
background in work for nobody; stale: elsewhere, the entry of a request that is not under way. Work of "?" is not judged: the
program does not know which thread did it. Programs that write no such file are judged by the library that was interrupted, as in the table "whose".
"""
import bisect
import re
import time
from collections import Counter
from pathlib import Path

import judge
from sampling import PIN, Sampler

PUBLISH_SECONDS = 8  # until the agent has seen that somebody reads, and has begun to publish
UNSURE = "?"
WORDS = {"right": "right", "missing": "none", "wrong": "wrong", "span": "wrong"}
MAPPED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) ..x. \S+ \S+ \S+ +/\S*/([^/\s]+)$", re.M)


class Libraries:
    """Where processes have the libraries that tell what they burn for."""

    def __init__(self, row, pids):
        self.ranges = {pid: sorted(self.mapped(row, pid)) for pid in pids}

    @staticmethod
    def mapped(row, pid):
        for begin, end, name in MAPPED.findall(Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")):
            yield from ((int(begin, 16), int(end, 16), which) for start, which in row.libraries.items()
                        if name.startswith(start))

    def burn_at(self, pid, ip):
        """a or b; None: elsewhere."""
        mine = self.ranges.get(pid, [])
        place = bisect.bisect_right(mine, ip, key=lambda mapped: mapped[0]) - 1
        return mine[place][2] if place >= 0 and ip < mine[place][1] else None


def by_library(libraries, requests, samples):
    """Counter of the verdicts on samples of programs that write no truth."""
    endpoints, verdicts = {request.trace: request.id[0] for request in requests}, Counter()
    for sample in samples:
        if burn := libraries.burn_at(sample.tgid, sample.ip):
            said = endpoints.get(sample.trace, "?")
            verdicts["none" if not sample.trace else "right" if said == burn else "wrong"] += 1
    return verdicts


def by_truth(works, requests, samples):
    """Counter of the verdicts on samples of programs that write down what they burn for."""
    one, verdicts = judge.Judge(works, requests), Counter()
    for sample in samples:
        work = one.work_at(sample)
        if work and work.id == UNSURE or sample.tgid not in one.tgids:
            continue
        if work and work.id:
            verdicts[WORDS[one.in_request(sample, one.requests[work.id])]] += 1
        elif work:
            verdicts["background" if sample.trace else "nothing"] += 1
        else:
            verdicts["stale"] += bool(sample.trace) and not is_under_way(one, sample)
    return +verdicts


def is_under_way(one, sample):
    """The request that it names was sent, and is not answered."""
    request = one.requests.get(one.traces.get(sample.trace))
    return request and request.sent <= sample.ns <= request.received


class Foreign:
    """The reader of one server, while this is held; cells are judged when it has ended."""

    def __init__(self, server):
        self.server, self.sampler, self.begun = server, Sampler(server.scene.build, PIN), time.monotonic()
        self.requests, self.cells = [], []
        self.sampler.__enter__()

    def wait(self):
        """Until what is to be published for it is."""
        time.sleep(max(0, self.begun + PUBLISH_SECONDS - time.monotonic()))

    def cell(self, key, begin_ns, requests):
        """What was asked since then is one cell."""
        self.cells.append((key, begin_ns, time.monotonic_ns()))
        self.requests += requests

    def end(self):
        """{key: verdicts}"""
        libraries = Libraries(self.server.row, self.server.pids())
        self.sampler.__exit__()
        samples, lost = self.sampler.samples()
        if lost:
            raise RuntimeError(f"{self.server.row.name}: the reader has lost {lost} samples")
        return {key: self.judged(libraries, begin, [s for s in samples if begin <= s.ns <= end])
                for key, begin, end in self.cells}

    def judged(self, libraries, begin, samples):
        if self.server.row.libraries:
            return by_library(libraries, self.requests, samples)
        works = [work for work in judge.read_truth(self.server.truth) if work.end >= begin]
        return by_truth(works, self.requests, samples)
