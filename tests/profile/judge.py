# SPDX-License-Identifier: Apache-2.0
"""Holds samples against the truth: which thread burned for which request, and when.

Verdicts on a sample of a program that was watched:
    right     in a request's work, with its trace id and its one span id
    missing   in a request's work, without an entry
    wrong     in a request's work, with another trace id
    span      in a request's work, with a span id that is zero, the caller's, or not always the same
    stale     in work for no request, or where its thread did not work: with an entry
    between   with the entry of the request that its thread has just worked on and that was not
              answered yet, a little before or behind the work: neither good nor bad; of a goroutine, which
              may go on in another thread, of any thread of its process
    nothing   in work for no request, or elsewhere: without an entry
"""
import bisect
from collections import Counter, defaultdict, namedtuple

Sample = namedtuple("Sample", "ns tgid tid trace span ip")
# id None: work for no request
Work = namedtuple("Work", "tgid tid start end id")

RIGHT_AT_LEAST = 0.99
NEVER = ("wrong", "span", "stale")
TOO_FEW = "too few samples"  # how complaints begin that say nothing of what was published
# A verdict over fewer samples than this would be worth nothing.
WORK_SAMPLES_AT_LEAST, OTHER_SAMPLES_AT_LEAST = 500, 50
ZERO_SPAN = "0" * 16


def read_truth(path):
    """The works of a truth file."""
    with open(path) as file:
        rows = [line.split() for line in file]
    return [Work(*map(int, row[:4]), None if row[4] == "-" else row[4]) for row in rows]


def read_samples(lines):
    """(samples, how many were lost) of what profile_sampler printed."""
    samples, lost = [], None
    for line in lines:
        words = line.split()
        if words[0] == "lost":
            lost = int(words[1])
        elif words[0] != "ready":
            trace, span = (None if word == "-" else word for word in words[3:5])
            samples.append(Sample(*map(int, words[:3]), trace, span, int(words[5], 16)))
    if lost is None:
        raise ValueError("the sampler ended early")
    return samples, lost


class Judge:
    """Knows the truth; judges samples one by one. moves: requests go from thread to thread."""

    def __init__(self, works, requests, moves=False):
        self.moves = moves
        self.requests = {request.id: request for request in requests}
        self.traces = {r.trace: r.id for r in requests if r.trace}
        self.spans, self.owners, self.roots = {}, {}, set()
        self.of_thread = defaultdict(list)
        for work in works:
            self.of_thread[work.tgid, work.tid].append(work)
        for mine in self.of_thread.values():
            mine.sort(key=lambda work: work.start)
        self.tgids = {work.tgid for work in works}
        self.worked = {(w.tgid, w.tid, w.id) for w in works}

    def verdict(self, sample):
        """One of the words above, None for another program's sample."""
        if sample.tgid not in self.tgids:
            return None
        work = self.work_at(sample)
        if work and work.id:
            return self.in_request(sample, self.requests[work.id])
        if not sample.trace:
            return "nothing"
        return "stale" if work or not self.just_around(sample) else "between"

    def learn(self, sample):
        """The trace id of a root shows in the first sample of its work; no other may have it."""
        work = self.work_at(sample)
        request = self.requests[work.id] if work and work.id else None
        if request and not request.trace and sample.trace and request.id not in self.roots:
            self.roots.add(request.id)
            self.traces.setdefault(sample.trace, request.id)

    def work_at(self, sample):
        mine = self.of_thread.get((sample.tgid, sample.tid), [])
        place = bisect.bisect_right(mine, sample.ns, key=lambda work: work.start) - 1
        return mine[place] if place >= 0 and sample.ns <= mine[place].end else None

    def in_request(self, sample, request):
        if not sample.trace:
            return "missing"
        if self.traces.get(sample.trace) != request.id:
            return "wrong"
        first = self.spans.setdefault(request.id, (sample.trace, sample.span))
        owner = self.owners.setdefault(sample.span, request.id)
        bad = first != (sample.trace, sample.span) or owner != request.id
        return "span" if bad or sample.span in (ZERO_SPAN, request.parent) else "right"

    def just_around(self, sample):
        """The sample's thread, or another one that it moves to, worked on the request that it names, which was under way."""
        request = self.requests.get(self.traces.get(sample.trace))
        return (request and (self.moves or (sample.tgid, sample.tid, request.id) in self.worked) and
                request.sent <= sample.ns <= request.received)


def judge(works, requests, samples, moves=False):
    """Counter of the verdicts."""
    one, samples = Judge(works, requests, moves), sorted(samples, key=lambda s: s.ns)
    for sample in samples:
        one.learn(sample)
    verdicts = Counter(one.verdict(sample) for sample in samples)
    del verdicts[None]
    return verdicts


def right_share(verdicts):
    """Share of the samples in the work of requests that are right."""
    return verdicts["right"] / max(1, sum(verdicts[v] for v in ("right", "missing", "wrong", "span")))


def complaints(verdicts, lost=0, silent=False, least=RIGHT_AT_LEAST):
    """What is not as it should be, one text each; empty: all is well. silent: nothing is to be
    published. least: share of samples that must be right."""
    found = [f"{verdicts[word]} samples are {word}" for word in NEVER if verdicts[word]]
    if silent and verdicts["right"] + verdicts["between"]:
        found.append("something is published")
    if not silent and right_share(verdicts) < least:
        found.append(f"{verdicts['missing']} samples are missing: "
                     f"{100 * right_share(verdicts):.2f} % are right")
    if sum(verdicts[v] for v in ("right", "missing", "wrong", "span")) < WORK_SAMPLES_AT_LEAST:
        found.append(f"{TOO_FEW} of requests to tell")
    if verdicts["nothing"] + verdicts["stale"] < OTHER_SAMPLES_AT_LEAST:
        found.append(f"{TOO_FEW} beside the requests to tell")
    if lost:
        found.append(f"{lost} samples were lost")
    return found
