# SPDX-License-Identifier: Apache-2.0
"""Requests first: tables and pictures begin with what requests cost, all else is one row below, or asked for; and
what share of the servers' samples belongs to no request is said."""
import re
import xml.etree.ElementTree as ElementTree

import made
from outputs_diff import SVG, frames, functions
from outputs_tools import Windows, equal

NONE = "(no request)"
OTHERS = made.Stack(900, ("main", "compile"), {"endpoint": NONE, "process": "cc", "pid": 4712})
BUSY = (OTHERS, *made.STACKS)  # a host with other work
SERVERS = ("#servers\t1000", "#no_request\t9\tno-evidence", "#no_request\t29\tother-idle-loop",
           "#no_request\t3\tended", "#no_request\t1\tnone-open")
SAID = "4.2 % of the samples of servers have no request: other-idle-loop 2.9 %, no-evidence 0.9 %, ended 0.3 %"
UNKNOWN = "#no_request\t8\tnever-heard-of"  # of another version


def table(text):
    """{endpoint: (samples, share)} in order."""
    rows = (re.split(r"  +", line.strip()) for line in text.splitlines()[1:])
    return {row[7]: (int(row[0]), row[1]) for row in rows}


def title(path):
    return ElementTree.parse(path).find(f"{SVG}text").text


def case_first_table(world):
    """the row of no request is the last one, whatever it has, and shares are of the requests; --all: of everything"""
    file = made.write(world.folder / "busy.pb.gz", BUSY)
    requests = {"shop GET /a": (60, "66.7%"), "shop GET /b": (30, "33.3%")}
    equal(list(table(world.profile("show", file).stdout).items()), [*requests.items(), (NONE, (910, "-"))], "rows")
    all_of_it = {"shop GET /a": (60, "6.0%"), "shop GET /b": (30, "3.0%"), NONE: (910, "91.0%")}
    equal(table(world.profile("show", file, "--all").stdout), all_of_it, "rows of everything")
    equal(table(world.profile("show", file, "--endpoint", "/b").stdout), {"shop GET /b": (30, "100.0%")}, "of an endpoint")
    equal(table(world.profile("show", file, "--endpoint", NONE).stdout), {NONE: (910, "100.0%")}, "what was asked for")
    equal([row["endpoint"] for row in world.said("show", file)["endpoints"]], ["GET /a", "GET /b", NONE], "as JSON")
    many = [made.Stack(1, ("main",), made.labels(f"GET /{number:02}", "p50", 0)) for number in range(30)]
    rows = table(world.profile("show", made.write(world.folder / "many.pb.gz", (*many, OTHERS))).stdout)
    equal((len(rows), list(rows)[-1]), (21, NONE), "of many endpoints the first ones, and the row of no request")


def case_first_picture(world):
    """pictures are of requests; with --all, and where there is nothing else, of everything; other files keep all"""
    file, picture = made.write(world.folder / "busy.pb.gz", BUSY), world.folder / "x.svg"

    def drawn(*words):
        world.profile("show", *words, "-o", picture)
        return {name: said.split(",")[0] for name, (_, said, _) in frames(picture).items()}

    found = drawn(file)
    equal((found["all"], found["shop GET /a"], NONE in found, "compile" in found),
          ("90 samples", "60 samples", False, False), "the picture")
    equal(title(picture), "CPU of requests, by endpoint: 90 samples at 100 Hz", "title")
    found = drawn(file, "--all")
    equal((found["all"], found[NONE], found["compile"]), ("1000 samples", "910 samples", "900 samples"), "of everything")
    equal(title(picture), "CPU by endpoint: 1000 samples at 100 Hz", "title")
    equal(drawn(made.write(world.folder / "others.pb.gz", (OTHERS,)))["compile"], "900 samples", "without a request")
    equal(drawn(file, "--endpoint", NONE)[NONE], "910 samples", "what was asked for")
    rules = world.rules("fold ^(query|lock)$ as database\n")
    equal(NONE in drawn(file, "--tags", rules), False, "with rules")
    for name in ("x.folded", "x.otlp"):
        world.profile("show", file, "-o", world.folder / name)
        assert b"compile" in (world.folder / name).read_bytes(), name
    world.profile("show", file, "-o", world.folder / "x.pb.gz")
    equal(world.said("show", world.folder / "x.pb.gz")["samples"], 1000, "of pprof")


def case_first_foreign(world):
    """profiles of other programs, which name no endpoint, are drawn whole"""
    file = made.write(world.folder / "foreign.pb.gz", [made.Stack(5, ("main", "work"), {})])
    world.profile("show", file, "-o", world.folder / "x.svg")
    equal((frames(world.folder / "x.svg")["work"][1], title(world.folder / "x.svg")),
          ("5 samples, 100.00%", "CPU by endpoint: 5 samples at 100 Hz"), "the picture")


def case_first_diff(world):
    """what requests cost is compared, whatever else the hosts did; --all, or a side without requests: everything"""
    quiet, busy = world.made, made.write(world.folder / "busy.pb.gz", BUSY)
    found = functions(world.said("diff", quiet, busy))
    equal((found["query"], "compile" in found), ((*(round(30 / 90, 6),) * 2, *(round(50 / 90, 6),) * 2), False), "query")
    found = functions(world.said("diff", quiet, busy, "--all"))
    equal((found["query"][:2], found["compile"][:2]), ((0.3, 0.03), (0, 0.9)), "of everything")
    others = made.write(world.folder / "others.pb.gz", (OTHERS,))
    equal(functions(world.said("diff", quiet, others))["compile"][:2], (0, 1), "a side without requests")


def case_first_servers(world):
    """what share of the servers' samples belongs to no request, and why; in windows summed up"""
    file = made.write(world.folder / "x.pb.gz", comments=(*made.COMMENTS, *SERVERS))
    equal(world.profile("show", file).stderr.splitlines()[0], f"profile: {SAID}", "one line")
    equal(world.said("show", file)["servers"],
          {"samples": 1000, "without_request": 42, "reasons": {"other-idle-loop": 29, "no-evidence": 9, "ended": 3,
                                                               "none-open": 1}}, "as JSON")
    equal("servers" in world.said("show", world.made), False, "of a profile that does not say it")
    assert "of servers" not in world.profile("show", world.made).stderr
    windows = Windows(world)
    windows.add(0, comments=SERVERS)
    windows.add(1, comments=(*SERVERS, UNKNOWN))
    windows.add(2)
    equal(windows.said("--last", "5m")["servers"],
          {"samples": 2000, "without_request": 92, "reasons": {"other-idle-loop": 58, "no-evidence": 18, "ended": 6,
                                                               "none-open": 2, "other": 8}}, "of windows")
    windows.profile("--last", "5m", "--endpoint", "/a", "-o", world.folder / "y.pb.gz")
    equal(world.said("show", world.folder / "y.pb.gz")["servers"]["samples"], 2000, "of a part of them: still of all")
