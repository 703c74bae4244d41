# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of tests.py kernel by kernel and prints what came out as one table."""
import os
import shlex
import sys
from collections import namedtuple

import guest
import kernels
import tests

# verdict: "pass", "fail" or "skip"; reason: for a skip.
Cell = namedtuple("Cell", "verdict reason seconds")
SHOWN_LINES = 30


def run(series, repo, build, own_builds, short, only):
    """Run the table; 1 if anything failed or nothing ran, else 0.

    repo, build: folders; own_builds: other build folders, by kernel, for the tests that are to use
    them; short: leave out the long tests; only: parts of the names to run, one of which is enough.
    """
    for folder in (build, *own_builds.values()):
        if not (folder / "ctxpropd").exists():
            sys.exit(f"vm.py: {folder}/ctxpropd is missing: build first, or name it by --build")
    build = build.resolve()
    own_builds = {name: folder.resolve() for name, folder in own_builds.items()}
    os.chdir(repo)
    rows = [test for test in tests.TESTS
            if any(text in test.name for text in only) and not (short and test.short == tests.NONE)]
    cells = {}
    for name in series:
        for test, c in column(kernels.get(name), rows, build, own_builds.get(name, build), short):
            cells[name, test.name] = c
    print_table(series, rows, cells)
    verdicts = [c.verdict for c in cells.values()]
    return int("fail" in verdicts or "pass" not in verdicts)


def why_not(test, series, short):
    """Why a test does not run in a kernel; None: it does."""
    if test.kernels is not tests.ALL and series not in test.kernels:
        return f"only for {', '.join(test.kernels)}"
    if short and test.short is not tests.ALL and series not in test.short:
        return f"in the short table only for {', '.join(test.short)}"
    return None


def column(kernel, rows, build, own_build, short):
    """Run the tests in one kernel; yields each with its cell."""
    fit = []
    for test in rows:
        if reason := why_not(test, kernel.series, short):
            yield test, Cell("skip", reason, 0)
        else:
            fit.append(test)
    jobs = [guest.Job(shlex.split(test.command.format(build=own_build if test.own_build else build)),
                      test.seconds) for test in fit]
    for test, job, done in zip(fit, jobs, guest.run(kernel, jobs)):
        print(f"== {kernel.series}: {test.name}", flush=True)
        yield test, cell(job, done)


def cell(job, done):
    """How a test went, whose command ended so; what it said if it failed is printed."""
    if done.status == 0 and not done.trouble:
        return Cell("pass", "", done.seconds)
    if done.status == tests.SKIP_STATUS and not done.trouble:
        return Cell("skip", guest.tail(done.output, 1) or "no reason given", done.seconds)
    print(f"-- {shlex.join(job.argv)}\n{guest.tail(done.output, SHOWN_LINES)}")
    print(f"-- {done.trouble or f'exit code {done.status}'}", flush=True)
    return Cell("fail", "", done.seconds)


def print_table(series, rows, cells):
    """One line per test, one column per kernel; the reasons of skips below."""
    def shown(c):
        return f"{c.verdict} {c.seconds:5.1f} s" if c.seconds else c.verdict

    width = max([len(test.name) for test in rows], default=0) + 2
    print(f"\n{'test':{width}}" + "".join(f"{name:14}" for name in series).rstrip())
    for test in rows:
        columns = "".join(f"{shown(cells[name, test.name]):14}" for name in series)
        print(f"{test.name:{width}}{columns}".rstrip())
    for (name, test), c in cells.items():
        if c.verdict == "skip":
            print(f"skip: {test} on {name}: {c.reason}")
    for verdict in ("pass", "fail", "skip"):
        count = sum(c.verdict == verdict for c in cells.values())
        print(f"{count} {verdict}", end="\n" if verdict == "skip" else ", ")
