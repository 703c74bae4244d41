# SPDX-License-Identifier: Apache-2.0
"""Proof that the matrix can fail: programs that lie about their traces, and no agent at all."""
import contextlib
import sqlite3
import tempfile

import metadata
from rows import Row, python
from truth import LEARNT, OWN, Ledger, Score

IN_FLIGHT, REQUESTS = 8, 60


def liar(lie):
    return Row(f"lie-{lie}", f"a program that says {lie}", (python("liar", LIE=lie),))


def all_of(name):
    return lambda score: getattr(score, name) == score.calls > 0 and not score.faults


def mostly_wrong(score):
    """The request before is now and then the same one: the very first."""
    return score.wrong > 0.9 * score.calls and score.right + score.wrong == score.calls


def faulty(words):
    return lambda score: score.right == score.wrong == 0 and any(words in f for f in score.faults)


# (row, with the agent, what its Score has to satisfy)
LIES = (
    (liar("right"), True, all_of("right")),
    (liar("wrong"), True, mostly_wrong),
    (liar("unknown"), True, all_of("unknown")),
    (liar("twice"), True, faulty("calls with 2 headers")),
    (Row("no-agent", "nobody adds anything", (python("threads"),)), False,
     faulty("calls with 0 headers")),
)


def header(trace, span):
    return [f"00-{trace:032x}-{span:016x}-01"]


def score_of(traced, calls):
    """Score of two requests of two calls each; calls: (request 0 or 1 or OWN, trace, span)."""
    ledger = Ledger()
    truths = [ledger.request(2, traced)[0] for _ in range(2)]
    ids = [ledger.trace_of.get(truth, "0") for truth in truths]
    for who, trace, span in calls:
        trace = int(ids[trace], 16) if traced and trace < 2 else trace + 1
        ledger.call(OWN if who == OWN else truths[who], header(trace, span))
    score = ledger.score()
    return (score.right, score.unknown, score.wrong, score.own_wrong, len(score.faults))


def learnt_of(right):
    """Per cent right behind the first requests; right: whether the call of each request is."""
    ledger = Ledger()
    for i, is_right in enumerate(right):
        truth, traceparent = ledger.request(1, True)
        ledger.call(truth, [traceparent] if is_right else header(i + 1, i + 1))
    return ledger.score().part_learnt()


def learning():
    """Lines of what is wrong about the column of what is right once the first requests are over."""
    cases = {
        "only first ones": ([True] * LEARNT, None),
        "first ones unknown": ([False] * LEARNT + [True] * 4, 100),
        "one unknown later": ([True] * LEARNT + [True, True, False, True], 75),
    }
    for name, (right, wanted) in cases.items():
        got = learnt_of(right)
        if got != wanted:
            yield f"learnt, {name}: {got}, should be {wanted}"


def judged(said):
    """What is judged of calls 3, 4 and 5, when the view says this of them; 3 and 4 belong to
    requests 1 and 2, 5 to none. Returns (right, unknown, wrong, beyond, whether the cell misses)."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-judged-") as folder:
        path = f"{folder}/store.db"
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE spans (id, kind, trace_id, span_id, parent_id)")
            db.execute("CREATE TABLE inferred (call_id, request_id)")
            db.executemany("INSERT INTO spans VALUES (?, ?, 0, ?, ?)", (
                (1, 2, 1, None), (2, 2, 2, None), (3, 3, 3, 1), (4, 3, 4, 2), (5, 3, 5, 9)))
            db.executemany("INSERT INTO inferred VALUES (?, ?)", said.items())
            db.commit()
        cell = metadata.Stored(path).judge(metadata.ROWS[0], 1, 0, Score(calls=3), [])
    return cell.right, cell.unknown, cell.wrong, cell.beyond, cell.missed()


def inferring():
    """Lines of what is wrong about judging the view `inferred`."""
    cases = {
        "right": ({3: 1, 4: 2}, (2, 0, 0, 0, False)),
        "unknown": ({3: 1}, (1, 1, 0, 0, True)),
        "wrong": ({3: 1, 4: 1}, (1, 0, 1, 0, True)),
        "beyond": ({3: 1, 4: 2, 5: 2}, (2, 0, 0, 1, True)),
    }
    for name, (said, wanted) in cases.items():
        got = judged(said)
        if got != wanted:
            yield f"inferring, {name}: {got}, should be {wanted}"


def scoring():
    """Lines of what is wrong about the scoring itself."""
    cases = {
        "all right": (True, [(0, 0, 1), (0, 0, 2), (1, 1, 3), (1, 1, 4)], (4, 0, 0, 0, 0)),
        "crossed": (True, [(0, 1, 1), (0, 0, 2), (1, 0, 3), (1, 1, 4)], (2, 0, 2, 0, 0)),
        "unknown": (True, [(0, 7, 1), (0, 8, 2), (1, 1, 3), (1, 1, 4)], (2, 2, 0, 0, 0)),
        "own, right": (True, [(0, 0, 1), (0, 0, 2), (1, 1, 3), (1, 1, 4), (OWN, 9, 5)],
                       (4, 0, 0, 0, 0)),
        "own, wrong": (True, [(0, 0, 1), (0, 0, 2), (1, 1, 3), (1, 1, 4), (OWN, 1, 5)],
                       (4, 0, 0, 1, 0)),
        "lost call": (True, [(0, 0, 1), (1, 1, 3), (1, 1, 4)], (3, 0, 0, 0, 1)),
        "span twice": (True, [(0, 0, 1), (0, 0, 1), (1, 1, 3), (1, 1, 4)], (4, 0, 0, 0, 1)),
        "roots": (False, [(0, 0, 1), (0, 0, 2), (1, 1, 3), (1, 1, 4)], (4, 0, 0, 0, 0)),
        "roots, apart": (False, [(0, 0, 1), (0, 5, 2), (1, 1, 3), (1, 1, 4)], (2, 2, 0, 0, 0)),
        "roots, mixed": (False, [(0, 0, 1), (0, 0, 2), (1, 0, 3), (1, 1, 4)], (0, 1, 3, 0, 0)),
        "roots, own": (False, [(0, 0, 1), (0, 0, 2), (1, 1, 3), (1, 1, 4), (OWN, 1, 5)],
                       (2, 0, 2, 1, 0)),
    }
    for name, (traced, calls, wanted) in cases.items():
        got = score_of(traced, calls)
        if got != wanted:
            yield f"scoring, {name}: {got}, should be {wanted}"
