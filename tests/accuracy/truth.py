# SPDX-License-Identifier: Apache-2.0
"""Who is right: the requests that clients sent, held against the calls that came out behind.

A call is right when its trace id is that of the request which it was made for, wrong when it is
that of another one, unknown when no client sent it. A call of the program's own (x-truth: none)
is wrong with any request's id and counts nowhere else.
"""
import collections
import dataclasses
import re
import secrets

TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
OWN = "none"  # x-truth of a program's own calls
LEARNT = 256  # requests of a cell: what a process shows by its first calls is known by then


@dataclasses.dataclass
class Score:
    """One cell of the matrix. Everything but `faults` counts calls."""
    calls: int = 0
    right: int = 0
    unknown: int = 0
    wrong: int = 0
    learnt: int = 0        # calls for other requests than the first ones of the cell
    learnt_right: int = 0  # of these
    own: int = 0        # calls of the program's own
    own_wrong: int = 0  # of these: with a request's trace id
    faults: list = dataclasses.field(default_factory=list)

    def part(self, name):
        return 100 * getattr(self, name) / self.calls if self.calls else 0.0

    def part_learnt(self):
        """Per cent right, the first requests of the cell left out; None if there are no others."""
        return 100 * self.learnt_right / self.learnt if self.learnt else None

    def wrongs(self):
        return self.wrong + self.own_wrong


class Ledger:
    """Requests that clients sent and calls that the upstream got, over a whole run."""

    def __init__(self):
        self.trace_of = {}   # truth -> trace id
        self.traces = set()  # trace ids that clients sent
        self.spans = set()   # span ids on calls: each may come once
        self.clear()

    def clear(self):
        """A new cell begins."""
        self.expected, self.calls, self.first = collections.Counter(), [], set()

    def request(self, calls, traced):
        """A request is to be sent; returns its truth and traceparent (None if not traced)."""
        truth, trace = secrets.token_hex(8), secrets.token_hex(16)
        if len(self.expected) < LEARNT:
            self.first.add(truth)
        self.expected[truth] = calls
        if not traced:
            return truth, None
        self.trace_of[truth] = trace
        self.traces.add(trace)
        return truth, f"00-{trace}-{secrets.token_hex(8)}-01"

    def call(self, truth, traceparents):
        """The upstream got a request."""
        self.calls.append((truth or OWN, traceparents))

    def ids(self, traceparents, faults):
        """(trace id, span id) of a call; None with a fault where there is not one valid header."""
        found = TRACEPARENT.fullmatch(traceparents[0]) if len(traceparents) == 1 else None
        if not found:
            faults[f"calls with {len(traceparents)} headers" if len(traceparents) != 1
                   else "calls with a bad header"] += 1
            return None
        if found[2] in self.spans:
            faults["span ids that came twice"] += 1
        self.spans.add(found[2])
        return found[1]

    def score(self):
        """The cell's Score."""
        score, faults = Score(), collections.Counter()
        known = [(truth, self.ids(headers, faults)) for truth, headers in self.calls]
        roots = Roots(known, self.trace_of)
        for truth, trace in known:
            if truth == OWN:
                score.own += 1
                score.own_wrong += trace in self.traces or roots.shared(trace)
                continue
            score.calls += 1
            verdict = self.verdict(truth, trace) if truth in self.trace_of else \
                roots.verdict(truth, trace)
            setattr(score, verdict, getattr(score, verdict) + 1)
            score.learnt += truth not in self.first
            score.learnt_right += truth not in self.first and verdict == "right"
        score.faults = [f"{n} {what}" for what, n in faults.items()] + self.lost()
        return score

    def verdict(self, truth, trace):
        if trace == self.trace_of[truth]:
            return "right"
        return "wrong" if trace in self.traces else "unknown"

    def lost(self):
        """Faults: requests whose calls did not all arrive, or more than these."""
        arrived = collections.Counter(truth for truth, _ in self.calls if truth != OWN)
        strange = sum(arrived[truth] != n for truth, n in self.expected.items())
        strange += len(arrived.keys() - self.expected.keys())
        return [f"{strange} requests with too few or too many calls"] if strange else []


class Roots:
    """Requests without traceparent: all calls of one must share a trace id that no other has."""

    def __init__(self, calls, trace_of):
        self.owners = collections.defaultdict(collections.Counter)
        for truth, trace in calls:
            if truth not in trace_of and trace:
                self.owners[trace][truth] += 1

    def shared(self, trace):
        """Another call of no or another request has it, too."""
        return bool(trace) and len(self.owners[trace]) > 1

    def verdict(self, truth, trace):
        if self.shared(trace):
            return "wrong"
        return "right" if trace and self.owners[trace][truth] > 1 else "unknown"
