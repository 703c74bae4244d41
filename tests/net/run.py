#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests: real programs and raw sockets in network namespaces, the agent in one.

    run.py [--build DIR] [--jobs N] [--quick] [--list] [NAME...]

NAME is a part of module.case. Prints one line per case: "ok", "not ok" or "ok # SKIP reason".

What did not come in time, or was asked for too late, may have met other cases on a busy machine:
up to AGAIN_MAX such cases run once more, by themselves, and are shown as "again" with what was
missed. Any other failure stands: a wrong value, byte or id is never tried again.
"""
import argparse
import importlib
import multiprocessing
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import cases
from waiting import CommandFailed, NotInTime

HERE = Path(__file__).resolve().parent
MODULES = sorted(path.stem for path in HERE.glob("test_*.py"))


AGAIN_MAX = 3


class TooLong(BaseException):
    """Not an Exception: no `except` of a case may swallow it."""


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=cases.BUILD, help="build folder")
    parser.add_argument("--jobs", type=int, default=2, help="modules at the same time (2)")
    parser.add_argument("--quick", action="store_true", help="without the cases that are marked as slow")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def load(names, quick):
    """[(module name, [case names])] of what was asked for."""
    chosen = []
    for module in MODULES:
        name = module.removeprefix("test_")
        found = [f"{name}.{c.__name__}" for c in
                 cases.cases_of(importlib.import_module(module)) if not (quick and c.case_slow)]
        if names:
            found = [full for full in found if any(part in full for part in names)]
        if found:
            chosen.append((name, found))
    return chosen


def stop(signum, frame):
    raise TooLong("takes longer than it may")


def explain(error):
    """Where in the test it happened, from the case inwards, and what."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    way = [f"{Path(f.filename).name}:{f.lineno} {f.line}" for f in frames]
    return "\n".join([*way[:4], *way[4:][-2:], f"{type(error).__name__}: {error}"[:3000]])


def run_case(function):
    """(verdict, what to say)"""
    signal.alarm(function.case_seconds)
    try:
        function()
        return "ok", ""
    except cases.Skip as skip:
        return "skip", str(skip)
    except (NotInTime, CommandFailed, TimeoutError, TooLong) as error:
        return "late", explain(error)
    except Exception as error:
        return "not ok", explain(error)
    finally:
        signal.alarm(0)


def run_module(name, wanted, build, results):
    """Run cases of one module and report each; in a process of its own."""
    signal.signal(signal.SIGALRM, stop)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    cases.BUILD = build
    try:
        for function in cases.cases_of(importlib.import_module(f"test_{name}")):
            full = f"{name}.{function.__name__}"
            if full not in wanted:
                continue
            begin = time.monotonic()
            verdict, said = run_case(function)
            title = (function.__doc__ or "no title").splitlines()[0].rstrip(".")
            results.put((full, title, verdict, said, time.monotonic() - begin))
    finally:
        cases.close_shared()
        results.put(None)


class Report:
    """Prints results as they come, and counts."""

    def __init__(self):
        self.count = {"ok": 0, "not ok": 0, "skip": 0}
        self.late = {}  # by the name of the case: what was waited for
        self.again = False

    def add(self, full, title, verdict, said, seconds):
        if verdict == "late" and not self.again and len(self.late) < AGAIN_MAX:
            self.late[full] = said
            print("".join(f"# late: {full}: {line}\n" for line in said.splitlines()), end="",
                  flush=True)
            return
        verdict = "not ok" if verdict == "late" else verdict
        title += " # again" if self.again else ""
        self.count[verdict] += 1
        number = sum(self.count.values())
        word = "not ok" if verdict == "not ok" else "ok"
        end = f" # SKIP {said}" if verdict == "skip" else f" ({seconds:.1f} s)"
        print(f"{word} {number} - {full}: {title}{end}", flush=True)
        if verdict == "not ok":
            print("".join(f"# {line}\n" for line in said.splitlines()), end="", flush=True)


def run_modules(chosen, args, report):
    """Run modules in processes, at most args.jobs at a time."""
    results, waiting, running = multiprocessing.Queue(), list(chosen), {}
    missing = {full for _, names in chosen for full in names}

    def start():
        name, names = waiting.pop(0)
        running[name] = multiprocessing.Process(target=run_module,
                                                args=(name, names, args.build, results))
        running[name].start()

    try:
        ended = 0
        while waiting or ended < len(chosen):
            while waiting and len(running) - ended < args.jobs:
                start()
            result = results.get()
            if result is None:
                ended += 1
                continue
            missing.discard(result[0])
            report.add(*result)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.join()
    for full in sorted(missing):
        report.add(full, "was not run", "not ok", "its process ended early", 0)


def main():
    args = parse()
    args.build = os.path.abspath(args.build)
    chosen = load(args.names, args.quick)
    if args.list:
        print("\n".join(full for _, names in chosen for full in names))
        return 0
    if not chosen:
        sys.exit(f"run.py: no case has {' or '.join(args.names)} in its name; see run.py --list")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    report = Report()
    run_modules(chosen, args, report)
    if report.late:
        args.jobs, report.again = 1, True
        late = [(name, [full for full in names if full in report.late]) for name, names in chosen]
        run_modules([(name, names) for name, names in late if names], args, report)
    count = report.count
    print(f"{count['ok']} passed, {count['not ok']} failed, {count['skip']} skipped")
    return int(count["not ok"] > 0 or not count["ok"])


if __name__ == "__main__":
    sys.exit(main())
