# SPDX-License-Identifier: Apache-2.0
"""The table "whose": is a sample of `ctxprop profile` labelled with the endpoint for which its function works?

A sample counts if its stack shows burn_a, burn_b or burn_background, or what the row names in place of these. Verdicts: right,
wrong (the other endpoint), none, and for burn_background: nothing, background (any request).
"""
import re
import time
from collections import Counter

from command import Profiled

SETTLE_SECONDS = 0.5  # until the spans of the last requests are stored
BURNS = re.compile(r"\bburn_(a|b|background)\b")
NOBODY = "(no request)"


def burns_of(row, functions):
    """What the functions of a stack, the innermost first, work for: a set of a, b and background."""
    found = {row.burns[name] for name in functions if name in row.burns}
    found |= {which for begin, which in row.libraries.items() if functions and functions[0].startswith(begin)}
    return found | {match[1] for name in functions if (match := BURNS.search(name))}


def verdict(row, sample):
    """One of the words above, None for a sample that does not count."""
    burns, endpoint = burns_of(row, sample.functions), sample.labels.get("endpoint", "?")
    if len(burns) != 1:
        return None
    burn = burns.pop()
    if burn == "background":
        return "nothing" if endpoint == NOBODY else "background"
    if endpoint.startswith("("):
        return "none"
    return "right" if endpoint == f"GET /{burn}" else "wrong"


def reason(sample):
    """Why a sample has no request."""
    endpoint = sample.labels.get("endpoint", "?")
    return sample.labels.get("no_request", "?") if endpoint == NOBODY else endpoint.strip("()")


def judge(row, samples, pids):
    """(Counter of the verdicts on the samples of these processes, Counter of the reasons of those without)."""
    verdicts, reasons = Counter(), Counter()
    for sample in samples:
        if sample.labels.get("pid") not in pids:
            continue
        word = verdict(row, sample)
        verdicts[word] += sample.count
        if word == "none":
            reasons[reason(sample)] += sample.count
    del verdicts[None]
    return verdicts, reasons


class Whose:
    """Looks at one cell, from now on until end()."""

    def __init__(self, server, in_flight):
        self.server, pids = server, server.pids()
        self.profiled = Profiled(server.agent, pids.pop() if len(pids) == 1 else None,
                                 f"{server.folder.name}/{in_flight}.pb.gz")

    def end(self):
        """(verdicts, reasons)"""
        time.sleep(SETTLE_SECONDS)
        return judge(self.server.row, self.profiled.end()[0].samples, self.server.pids())
