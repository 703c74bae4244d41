# SPDX-License-Identifier: Apache-2.0
"""What a continuous profile has kept is read again: windows whose every sample is known."""
import json
import os
import re

import made
from outputs_diff import frames, functions
from outputs_tools import Windows, equal, pprof, top
from pprof import Profile

MS = made.PERIOD_NS // 1_000_000
LAST = made.Stack(4, ("main", "serve", "late"), made.labels("GET /late", "p50", 0))


def filled(world):
    """Three windows: the last one has one stack more, and the one before is an hour's quarter older."""
    windows = Windows(world)
    windows.add(0, stacks=(*made.STACKS, LAST), comments=made.COMMENTS)
    windows.add(1, comments=made.COMMENTS)
    windows.add(15, stacks=made.STACKS[:1])
    return windows


def rows(said):
    return {row["endpoint"]: row for row in said["endpoints"]}


def case_last(world):
    """windows are added up: samples, requests, and CPU of each request"""
    windows = filled(world)
    said = windows.said("--last", "5m")
    found, count = rows(said), said["windows"]
    equal((count["count"], count["unreadable"], count["left_out"], count["to_s"] - count["from_s"]), (2, 0, 0, 120),
          "windows")
    equal((said["samples"], said["samples_lost"], said["duration_ns"]), (2 * 100 + 4, 4, 4_000_000_000), "sums")
    equal({name: found[name].get("requests") for name in found},
          {"GET /a": 240, "GET /b": 120, "(no request)": None, "GET /late": None, "GET /idle": 14}, "requests")
    equal(found["GET /a"]["cpu_ns_per_request"], 120 * made.PERIOD_NS // 240, "CPU of a request")
    equal(rows(windows.said("--last", "1h"))["GET /a"]["samples"], 2 * 60 + 10, "samples of an hour")
    equal(windows.said("show", "--last", "45s")["samples"], 104, "samples of the last one")
    done = windows.profile("--last", "5m")
    assert re.search(r"^ +120 +65\.2% +1200 +240 +5\.000 +- +- +shop GET /a  query 50%$", done.stdout, re.M), done.stdout
    assert re.search(r"^profile: 2 windows from ..:..:.. to ..:..:..$", done.stderr, re.M), done.stderr


def case_last_part(world):
    """what is chosen of them: requests are only told where all samples of an endpoint are"""
    windows = filled(world)
    for words, samples, requests in ((("--endpoint", "/a"), 120, 240), (("--bucket", "p99"), 40, None),
                                     (("--label", "pid=4711"), 120, None), (("--trace", made.TRACES[0][:6]), 80, None)):
        found = rows(windows.said("--last", "5m", *words))["GET /a"]
        equal((found["samples"], found.get("requests")), (samples, requests), f"GET /a with {words}")
    rules = world.rules("fold ^(query|lock)$ as database\n")
    windows.profile("--last", "5m", "--tags", rules, "-o", world.folder / "x.folded")
    assert "shop GET /a;app;main;serve;database 100\n" in (world.folder / "x.folded").read_text()


def case_last_files(world):
    """files of them, in each format; for pprof each stack stands once"""
    windows = filled(world)
    for name in ("x.svg", "x.folded", "x.otlp", "x.pb.gz"):
        windows.profile("--last", "5m", "-o", world.folder / name)
    assert "shop GET /a;app;main;serve;query 60\n" in (world.folder / "x.folded").read_text()
    file = world.folder / "x.pb.gz"
    merged = sorted(Profile(file).samples)
    equal(merged, sorted(s._replace(count=2 * s.count, ns=2 * s.ns) if "late" not in s.functions else s
                         for s in Profile(windows.path(0)).samples), "samples")
    again = world.said("show", file)
    equal(again["endpoints"], windows.said("--last", "5m")["endpoints"], "the file that was written")
    found = top(pprof(file, "-top", "-nodecount=100"))
    equal((found["query"], found["serve"]), ((60 * MS, 100 * MS), (0, 184 * MS)), "of pprof")
    assert "#requests" not in pprof(file, "-top"), "counts are in reports of pprof"
    comments = pprof(file, "-comments").splitlines()
    equal(sorted(comments), ["#lost\t4", "#requests\t120\tshop\tGET /b", "#requests\t14\tshop\tGET /idle",
                             "#requests\t240\tshop\tGET /a"], "comments")


def case_last_broken(world):
    """a window that is broken is named, and the others are shown"""
    windows = filled(world)
    windows.path(1).write_bytes(windows.path(1).read_bytes()[:-20])
    windows.path(2).write_bytes(b"")
    done = windows.profile("--last", "5m")
    assert f"2 windows cannot be read: {windows.path(1)}: it is not a gzip file, or cut off" in done.stderr, done.stderr
    equal((windows.said("--last", "5m")["samples"], windows.said("--last", "5m")["windows"]["unreadable"]), (104, 2), "the rest")
    os.remove(windows.path(0))
    error = windows.refused("--last", "5m")
    assert f"{windows.folder}: {windows.path(1).name}: it is not a gzip file" in error, error
    (windows.folder / "notes").write_text("not a window")
    windows.add(0, types=(("cpu", "nanoseconds"), ("wall", "nanoseconds")))
    equal(windows.said("--last", "1m")["ns"] > 0, True, "time of another kind")


def case_last_periods(world):
    """windows of differing kinds and rates: what is time stays right"""
    windows, labels = Windows(world), {"endpoint": "GET /a", "process": "app"}
    stack = (made.Stack(5, ("main",), labels),)
    waits = (("samples", "count"), ("cpu", "nanoseconds"), ("offcpu", "nanoseconds"))
    windows.add(0, stacks=stack, types=waits)
    windows.add(1, stacks=stack)
    found = rows(windows.said("--last", "5m"))["GET /a"]
    equal((found["samples"], found["cpu_ns"], found["blocked_ns"]), (10, 10 * made.PERIOD_NS, 0), "GET /a")


def case_last_refused(world):
    """what is missing, or does not fit, is said"""
    for words, said in ((("--last", "10m"), f"{world.folder}/profiles: ctxpropd runs without --profile"),
                        (("--last", "4000"), "--last 4000: expected a time up to an hour"),
                        (("--last", "2h"), "--last 2h: expected a time up to an hour"),
                        (("--last", "10m", "-F", "99"), "--frequency is for sampling"),
                        (("--last", "10m", "--before", "10m"), "there is no --before; diff has it"),
                        (("--last", "10m", "--by", "bucket=p50,p99"), "there is no --by; diff has it"),
                        (("show", world.made, "--last", "10m"), "--last reads no file"),
                        (("diff", "--last", "10m"), "expected --before TIME or --by KEY=ONE,OTHER"),
                        (("diff", world.made, "--last", "10m", "--before", "10m"), "and no file"),
                        (("diff", world.made, world.made, "--before", "10m"), "--before is for --last"),
                        (("--before", "10m"), "there is no --before")):
        error = world.refused(*words, "--store", world.folder / "store.db")
        assert said in error, (words, error)
    windows = Windows(world)
    windows.add(20, stacks=made.STACKS[5:])
    assert "no windows of this time are there" in windows.refused("--last", "10m")
    error = windows.refused("--last", "1h", "--trace", "0af")
    assert "--trace is for profiles that were taken with --ids" in error, error
    assert "no windows of this time" in windows.refused("diff", "--last", "30m", "--before", "10m")


def case_last_diff(world):
    """two parts of a time, and a time and the one before, of which no window is on both sides"""
    windows = filled(world)
    by = functions(windows.said("diff", "--last", "5m", "--by", "bucket=p50,p99", "-o", world.folder / "x.svg"))
    equal(by["lock"], (0, 0.8, 0, 0.8), "lock, by bucket")
    by = functions(windows.said("diff", "--last", "5m", "--by", "endpoint=GET /late,/b"))
    equal(by["late"], (1, 0, 1, 0), "late, by endpoint")
    times = functions(windows.said("diff", "--last", "45s", "--before", "1m", "-o", world.folder / "times.svg"))
    equal(times["late"], (0, round(4 / 94, 6), 0, round(4 / 94, 6)), "what is new")
    equal(times["query"], tuple(round(x, 6) for x in (30 / 90, 30 / 94, 50 / 90, 50 / 94)), "query")
    times = functions(windows.said("diff", "--last", "45s", "--before", "1m", "--all"))
    equal(times["query"], tuple(round(x, 6) for x in (0.3, 30 / 104, 0.5, 50 / 104)), "query, of everything")
    assert frames(world.folder / "times.svg")["late"][2].startswith("hsl(5"), "red: it is more now"
    title = (world.folder / "times.svg").read_text()
    assert "From the 1m before to the last 45s" in title, title[:2000]
    times = functions(windows.said("diff", "--last", "5m", "--before", "30m"))
    equal(times["parse"][:2], (1, round(20 / 184, 6)), "parse")


def case_last_json(world):
    """only the document is on standard output, and nothing beside it"""
    windows = filled(world)
    done = windows.profile("--last", "5m", "-j")
    equal((json.loads(done.stdout)["samples"], done.stderr), (204, ""), "what is said")
