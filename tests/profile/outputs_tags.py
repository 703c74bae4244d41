# SPDX-License-Identifier: Apache-2.0
"""Rules that are applied when a profile is read."""
import re
from collections import Counter
from pathlib import Path

import made
from outputs_tools import equal, pprof
from pprof import Profile

SHIPPED = Path(__file__).resolve().parents[2] / "share/profile-tags"
BAD = (("match query", "line 1: expected 'match REGEX tag NAME'"),
       ("# one\n\nmatch query tag ", "line 3: expected 'match REGEX tag NAME'"),
       ("drop lock\nfold query", "line 2: expected 'fold REGEX as NAME'"),
       ("drop", "line 1: a regular expression is missing"),
       ("drop ok\nhide query", "line 2: 'hide': expected match, drop or fold"),
       ("drop (", "line 1: '(' is no extended regular expression"),
       ("drop file:", "line 1: a regular expression is missing"),
       ("drop " + "x" * 2000, "line 1: it is longer than"),
       ("drop x\n" * 257, "line 257: there are more than 256 rules"))


def counts_by_tag(file):
    counts = Counter()
    for sample in Profile(file).samples:
        counts[sample.labels.get("tag")] += sample.count
    return counts


def case_match(world):
    """match: a label in pprof, and a frame below the endpoint; the first rule decides"""
    rules = world.rules("match ^lock$ tag waits for a lock\n  match que tag query\n"
                        "match file:/json/ tag json\n# match main tag all\n")
    file = world.written("x.pb.gz", "--tags", rules)
    equal(counts_by_tag(file), {"waits for a lock": 20, "query": 30, "json": 10, None: 40}, "tags")
    assert re.search(r"200\.0ms .*: waits for a lock", pprof(file, "-tags")), "pprof does not show it"
    lines = world.written("x.folded", "--tags", rules).read_text().splitlines()
    assert "shop GET /a;query;app;main;serve;query 30" in lines, lines
    equal(Counter(counts_by_tag(world.made)), {None: sum(s.count for s in made.STACKS)}, "the profile itself")


def case_drop(world):
    """drop: stacks with such a function are left out"""
    said = world.said("show", world.made, "--tags", world.rules("drop ^idle$\ndrop file:^/usr/lib/\n"))
    equal(said["samples"], sum(s.count for s in made.STACKS) - 7 - 10, "samples")
    equal(world.said("show", world.made, "--tags", world.rules("drop .\n"))["samples"], 3, "without functions")


def case_fold(world):
    """fold: functions that call each other become one"""
    rules = world.rules("fold ^(serve|query)$ as [inside]\n")
    lines = world.written("x.folded", "--tags", rules).read_text().splitlines()
    for line in ("shop GET /a;app;main;[inside] 30", "shop GET /a;app;main;[inside];lock 20",
                 "shop GET /a;app;main;[inside];parse 10"):
        assert line in lines, (line, lines)
    file = world.written("x.pb.gz", "--tags", rules)
    equal(Profile(file).samples[2].functions, ["lock", "[inside]", "main"], "functions in pprof")


def case_bad_rules(world):
    """rules that are wrong are told with their line"""
    for text, said in BAD:
        error = world.refused("show", world.made, "--tags", world.rules(text))
        assert said in error, (text[:40], error)
    error = world.refused("show", world.made, "--tags", world.folder / "none")
    assert "none: No such file" in error, error


def case_shipped(world):
    """the rules that are shipped: nginx and Python"""
    stacks = (
        made.Stack(1, ("main", "ngx_http_upstream_process_header"), {"endpoint": "GET /", "process": "nginx"}),
        made.Stack(2, ("main", "ngx_http_static_handler"), {"endpoint": "GET /", "process": "nginx"}),
        made.Stack(4, ("Py_RunMain", "_PyEval_EvalFrameDefault", "do_GET (app.py)", "_PyEval_EvalFrameDefault",
                       "parse", "PyObject_Call"), {"endpoint": "GET /", "process": "python3"}))
    files = {"Py_RunMain": "python3.11", "_PyEval_EvalFrameDefault": "libpython3.11.so.1.0",
             "PyObject_Call": "python3.11", "do_GET (app.py)": "/srv/python3/app.py"}
    made.FILES.update(files)
    path = made.write(world.folder / "shipped.pb.gz", stacks)
    world.profile("show", path, "-o", world.folder / "y.pb.gz", "--tags", SHIPPED)
    samples = Profile(world.folder / "y.pb.gz").samples
    equal([s.labels.get("tag") for s in samples], ["upstream", None, "json"], "tags")
    equal(samples[2].functions, ["[interpreter]", "parse", "[interpreter]", "do_GET (app.py)", "[interpreter]"],
          "functions of Python")
