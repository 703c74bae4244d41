#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does each sample know its request? Servers of many runtimes under load, of which half asks for one endpoint and half
for another; each works in a function that tells which. Prints the tables of docs/profile.md; exit 1 if a bar is missed.

    samples.py [--build DIR] [--in-flight N,N] [--seconds S] [--short] [whose [ROW...]]
"""
import argparse
import os
import signal
import sys
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ("lab", "bench", "profile", "accuracy")]

from needs import missing  # noqa: E402
from report import table  # noqa: E402
from rows import ROWS  # noqa: E402
from servers import Server  # noqa: E402
from whose import Whose  # noqa: E402

HEAD = ("program", "in flight", "samples", "right %", "none %", "wrong", "background", "why none", "bar %", "")
IN_FLIGHT, SHORT_IN_FLIGHT = (1, 4, 32), (4,)
SECONDS, SHORT_SECONDS = 3.0, 1.5
SAMPLES_AT_LEAST = 200  # less is no measurement
WRONG_AT_MOST = 0.002  # of the samples: edges, where work is handed over
REASONS = 2  # that are shown

Cell = namedtuple("Cell", "row in_flight verdicts reasons")


def share(cell, word):
    """Part of the samples in the work of requests."""
    return cell.verdicts[word] / max(1, sum(cell.verdicts[each] for each in ("right", "none", "wrong")))


def complaints_of(cell):
    """What is not as it should be, one text each."""
    name = f"{cell.row.name}, {cell.in_flight} in flight"
    counts = cell.verdicts
    found = [f"{name}: {100 * share(cell, 'right'):.1f} % are right, less than {cell.row.right} %"] * (
        100 * share(cell, "right") < cell.row.right)
    found += [f"{name}: {counts['wrong']} samples are wrong"] * (share(cell, "wrong") > WRONG_AT_MOST)
    found += [f"{name}: {counts['background']} samples of nobody's work have a request"] * (counts["background"] > 0)
    if sum(counts[word] for word in ("right", "none", "wrong")) < SAMPLES_AT_LEAST:
        found.append(f"{name}: too few samples of requests to tell")
    if cell.row.background and counts["nothing"] + counts["background"] < SAMPLES_AT_LEAST / 10:
        found.append(f"{name}: too few samples of nobody's work to tell")
    return found


def columns(cell):
    counts = cell.verdicts
    why = ", ".join(f"{word} {100 * count / counts['none']:.0f} %" for word, count in cell.reasons.most_common(REASONS))
    own = f"{counts['background']} of {counts['nothing'] + counts['background']}" if cell.row.background else "-"
    return [cell.row.name, str(cell.in_flight), str(sum(counts[word] for word in ("right", "none", "wrong"))),
            f"{100 * share(cell, 'right'):.1f}", f"{100 * share(cell, 'none'):.1f}", str(counts["wrong"]), own,
            why or "-", str(cell.row.right or "-"), "MISSED" if complaints_of(cell) else "met"]


def look(build, row, in_flights, seconds):
    """The cells of a row, one after the other; RuntimeError where its requests fail."""
    with Server(build, row) as server:
        server.warm_up()
        for in_flight in in_flights:
            judge = Whose(server)
            judge.begin(in_flight)
            requests = server.ask(in_flight, seconds)
            yield Cell(row, in_flight, *map(Counter, judge.end(requests)))


def wanted_rows(names, short):
    begins = tuple(map(str.lower, names))
    return [row for row in ROWS if (row.name.lower().startswith(begins) if names else row.short or not short)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--in-flight", help="so many requests in flight: numbers with commas")
    parser.add_argument("--seconds", type=float, help="of each cell")
    parser.add_argument("--short", action="store_true", help="few rows, and little of each")
    parser.add_argument("table", nargs="?", choices=("whose",), default="whose")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    in_flights = [int(word) for word in args.in_flight.split(",")] if args.in_flight else (
        SHORT_IN_FLIGHT if args.short else IN_FLIGHT)
    seconds = args.seconds or (SHORT_SECONDS if args.short else SECONDS)
    lines, complaints = [], []
    for row in wanted_rows(args.names, args.short):
        if what := missing(row):
            print(f"skip - {row.name}: {what} is not there", flush=True)
            continue
        try:
            for cell in look(os.path.abspath(args.build), row, in_flights, seconds):
                lines.append(columns(cell))
                complaints += complaints_of(cell)
                print("  ".join(lines[-1]), flush=True)
        except (AssertionError, RuntimeError) as error:
            complaints.append(f"{row.name}: {error}")
            print(complaints[-1], flush=True)
    print(f"\n{table(list(HEAD), lines, True)}\n", *complaints, sep="\n", end="\n" * bool(complaints))
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
