# SPDX-License-Identifier: Apache-2.0
"""Proof that both tables can fail: samples that are wrong in each way are found, and nothing else is."""
from collections import Counter
from types import SimpleNamespace

import foreign
import judge
import samples
import whose
from clients import Request
from pprof import Sample
from rows import Row

PID, THREAD, OTHER_THREAD = 7, 8, 9
LOOP = Row("loop", [], right=90, background=True)
NATIVE = Row("native", [], burns={"deflate": "a"}, libraries={"libpcre2": "b"})
GOOD = Counter(right=990, none=10, nothing=100)


def sample(endpoint, *functions, pid=PID, **labels):
    return Sample(1, 1, 0, list(functions), {"endpoint": endpoint, "pid": pid, **labels})


def whose_cases():
    """(name, row, sample, the verdict that it must get)"""
    handler = ("spin (burn.py)", "burn_a (burn.py)", "serve (aio.py)")
    return (
        ("its endpoint", LOOP, sample("GET /a", *handler), "right"),
        ("the other one", LOOP, sample("GET /b", *handler), "wrong"),
        ("a route that there is not", LOOP, sample("GET /ab", *handler), "wrong"),
        ("no request", LOOP, sample("(no request)", *handler), "none"),
        ("a request that is not stored", LOOP, sample("(request not known)", *handler), "none"),
        ("of a class", LOOP, sample("GET /b", "Burn.burn_b (Burn.java)"), "right"),
        ("background with a request", LOOP, sample("GET /a", "main.burn_background"), "background"),
        ("background with one that is not stored", LOOP, sample("(request not known)", "main.burn_background"), "background"),
        ("background without", LOOP, sample("(no request)", "main.burn_background"), "nothing"),
        ("elsewhere", LOOP, sample("GET /a", "epoll_wait"), None),
        ("a name that is longer", LOOP, sample("GET /a", "burn_all"), None),
        ("another program", LOOP, sample("GET /b", *handler, pid=PID + 1), None),
        ("a function that the row names", NATIVE, sample("GET /b", "deflate_fast", "deflate"), "wrong"),
        ("a library, innermost", NATIVE, sample("GET /b", "libpcre2-8.so.0+0x10", "main"), "right"),
        ("a library, not innermost", NATIVE, sample("GET /b", "main", "libpcre2-8.so.0+0x10"), None),
    )


def check_whose():
    for name, row, one, wanted in whose_cases():
        verdicts, _ = whose.judge(row, [one], {PID})
        yield name, verdicts == Counter([wanted] if wanted else [])
    reasons = whose.judge(LOOP, [sample("(no request)", "burn_a", no_request="other-idle-loop"),
                                 sample("(request not known)", "burn_a"), sample("(no request)", "burn_b")], {PID})[1]
    yield "reasons", reasons == Counter({"other-idle-loop": 1, "request not known": 1, "?": 1})


TRACES = {"a1": "1" * 32, "b2": "2" * 32}
PARENT, SPAN, OTHER_SPAN = "a" * 16, "b" * 16, "c" * 16
REQUESTS = [Request(name, trace, PARENT, 0, 1000) for name, trace in TRACES.items()]
WORKS = [judge.Work(PID, THREAD, 100, 200, "a1"), judge.Work(PID, THREAD, 300, 400, "b2"),
         judge.Work(PID, THREAD, 500, 600, None), judge.Work(PID, THREAD, 700, 800, "?"),
         judge.Work(PID, OTHER_THREAD, 100, 200, "b2")]


def seen(ns, name=None, span=SPAN, thread=THREAD, ip=0):
    return judge.Sample(ns, PID, thread, TRACES.get(name, name), span if name else None, ip)


def truth_cases():
    """(name, samples, the verdicts that they must get)"""
    return (
        ("its request", [seen(150, "a1")], ["right"]),
        ("another's", [seen(150, "b2")], ["wrong"]),
        ("what another thread works for", [seen(150, "a1", thread=OTHER_THREAD)], ["wrong"]),
        ("the one before, stale", [seen(350, "a1")], ["wrong"]),
        ("a trace that nobody sent", [seen(150, "f" * 32)], ["wrong"]),
        ("the caller's span", [seen(150, "a1", span=PARENT)], ["wrong"]),
        ("two spans of one request", [seen(150, "a1"), seen(160, "a1", span=OTHER_SPAN)], ["right", "wrong"]),
        ("none", [seen(150)], ["none"]),
        ("background with a request", [seen(550, "b2")], ["background"]),
        ("background without", [seen(550)], ["nothing"]),
        ("between two works, of one of them", [seen(250, "a1")], []),
        ("when all is over", [seen(1500, "a1")], ["stale"]),
        ("of nobody's request", [seen(250, "f" * 32)], ["stale"]),
        ("work of which it is not known whose thread did it", [seen(750, "a1")], []),
        ("another program", [seen(1500, "a1")._replace(tgid=PID + 1)], []),
    )


def check_foreign():
    for name, given, wanted in truth_cases():
        yield name, foreign.by_truth(WORKS, REQUESTS, given) == Counter(wanted)
    libraries = SimpleNamespace(burn_at=lambda pid, ip: {1: "a", 2: "b"}.get(ip))
    for name, given, wanted in (("a library's", seen(1, "a1", ip=1), "right"), ("the other one's", seen(1, "a1", ip=2), "wrong"),
                                ("none in a library", seen(1, ip=2), "none"), ("in no library", seen(1, "a1", ip=3), None)):
        yield name, foreign.by_library(libraries, REQUESTS, [given]) == Counter([wanted] if wanted else [])


def check_bars():
    for name, change, wanted in (
            ("good", {}, 0), ("too few right", {"right": 890, "none": 110}, 1), ("edges", {"wrong": 2}, 0),
            ("wrong", {"wrong": 3}, 1), ("stale", {"stale": 3}, 1), ("background", {"background": 1}, 1),
            ("too few samples", {"right": 198, "none": 1}, 1), ("too little background", {"nothing": 4}, 1)):
        cell = samples.Cell("map", LOOP, 4, Counter({**GOOD, **change}), Counter())
        yield f"bars: {name}", len(samples.complaints_of(cell)) == wanted


def check_again():
    """Which rows get a second look: only where nothing is wrong."""
    for name, change, late, wanted in (
            ("good", {}, [], []), ("too few right", {"right": 890, "none": 110}, [], [LOOP]),
            ("too few right, and wrong", {"right": 880, "none": 110, "wrong": 10}, [], []),
            ("background", {"background": 1}, [], []), ("too few samples", {"right": 198, "none": 1}, [], [LOOP]),
            ("late", {}, [LOOP], [LOOP]), ("late, and wrong", {"wrong": 10}, [LOOP], [])):
        cells = [samples.Cell("map", LOOP, 4, Counter({**GOOD, **change}), Counter())]
        yield f"again: {name}", samples.rows_to_see_again(cells, late) == wanted


def run():
    """Returns the exit status."""
    checks = [*check_whose(), *check_foreign(), *check_bars(), *check_again()]
    failed = [name for name, good in checks if not good]
    print("\n".join(f"not ok - {name}" for name in failed) or f"ok - {len(checks)} verdicts")
    return int(bool(failed))
