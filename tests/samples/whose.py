# SPDX-License-Identifier: Apache-2.0
"""The table "whose": is a sample of `ctxprop profile` labelled with the endpoint for which its function works?

A sample counts if its stack shows burn_a, burn_b or burn_background, or a function that the row names. Verdicts: right, wrong (the other endpoint), none,
and for burn_background: nothing, background (any request).
"""
import re
import time
from collections import Counter

from command import Profiled

SETTLE_SECONDS = 0.5  # until the spans of the last requests are stored
BURNS = re.compile(r"\bburn_(a|b|background)\b")
NOBODY = "(no request)"


def burn_of(sample, burns):
    """a, b or background; None: another function, or more than one of these. burns: {name: a or b}, see rows.py."""
    found = {burns.get(name) or BURNS.search(name)[1] for name in sample.functions if name in burns or BURNS.search(name)}
    return found.pop() if len(found) == 1 else None


def verdict(sample, burns):
    """One of the words above, None for a sample that does not count."""
    burn, endpoint = burn_of(sample, burns), sample.labels.get("endpoint", "?")
    if burn == "background":
        return "nothing" if endpoint == NOBODY else "background"
    if not burn:
        return None
    if endpoint.startswith("("):
        return "none"
    return "right" if endpoint == f"GET /{burn}" else "wrong"


def reason(sample):
    """Why a sample has no request."""
    endpoint = sample.labels.get("endpoint", "?")
    return sample.labels.get("no_request", "?") if endpoint == NOBODY else endpoint.strip("()")


def judge(samples, pids, burns):
    """(Counter of the verdicts on the samples of these processes, Counter of the reasons of those without)."""
    verdicts, reasons = Counter(), Counter()
    for sample in samples:
        if sample.labels.get("pid") not in pids:
            continue
        word = verdict(sample, burns)
        verdicts[word] += sample.count
        if word == "none":
            reasons[reason(sample)] += sample.count
    del verdicts[None]
    return verdicts, reasons


class Whose:
    """Looks at one cell."""

    def __init__(self, server):
        self.server = server

    def begin(self, in_flight):
        pids = self.server.pids()
        self.profiled = Profiled(self.server.agent, self.server.store, pids.pop() if len(pids) == 1 else None,
                                 f"{self.server.folder.name}/{in_flight}.pb.gz")

    def end(self, requests):
        """(verdicts, reasons) of the samples since begin()."""
        del requests  # functions tell for which endpoint they are
        time.sleep(SETTLE_SECONDS)
        return judge(self.profiled.end().samples, self.server.pids(), self.server.row.burns)
