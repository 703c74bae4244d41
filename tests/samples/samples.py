#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does each sample know its function, and its request? Servers of many runtimes under load; exit 1 if a bar is missed.

stacks: what share of the samples of a known function shows it. whose: of servers of which half of the requests ask for one
endpoint and half for another, what share of the samples of `ctxprop profile` has the endpoint of the function that they show.
map: the same of the map traces_ctx_v1 and a reader that is not ctxprop's. Prints the tables of docs/profile.md.

    samples.py [--build DIR] [--short] [--write] [--in-flight N,N] [--seconds S] [stacks|whose|map [ROW...]]
    samples.py --self-test
"""
import argparse
import os
import signal
import subprocess
import sys
import time
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / name) for name in ("lab", "bench", "profile", "accuracy")]

import page  # noqa: E402
import stacks  # noqa: E402
from foreign import Foreign  # noqa: E402
from needs import missing  # noqa: E402
from report import table  # noqa: E402
from rows import ROWS  # noqa: E402
from servers import Scene, Server  # noqa: E402
from waiting import NotInTime  # noqa: E402
from whose import Whose  # noqa: E402

HEADS = {"whose": ("program", "in flight", "samples", "right %", "none %", "wrong", "nobody's", "why none", "bar %", ""),
         "map": ("program", "in flight", "samples", "right %", "none %", "wrong", "nobody's", "stale", "bar %", "")}
TABLES = tuple(HEADS)
IN_FLIGHT, SHORT_IN_FLIGHT = (1, 4, 32), (4,)
SECONDS, SHORT_SECONDS = 3.0, 2.0
REQUESTS_AT_LEAST = 300  # of 4 ms each
SAMPLES_AT_LEAST, OWN_AT_LEAST = 200, 5  # less is no measurement
WRONG_AT_MOST = 0.002  # of the samples: edges, where work is handed over
REASONS = 2  # that are shown
LATE = (NotInTime, TimeoutError, subprocess.TimeoutExpired)
OF_REQUESTS = ("right", "none", "wrong")

# table: whose or map. reasons: Counter of why samples have no request (whose)
Cell = namedtuple("Cell", "table row in_flight verdicts reasons")


def of_requests(cell):
    """How many samples were taken in the work of requests."""
    return sum(cell.verdicts[word] for word in OF_REQUESTS)


def per_cent(cell, word):
    """How many of those."""
    return 100 * cell.verdicts[word] / max(1, of_requests(cell))


def lacks_of(cell):
    """What is less than it should be, one text each. A busy machine may be why."""
    counts, bar, found = cell.verdicts, cell.row.right, []
    if per_cent(cell, "right") < bar:
        found.append(f"{per_cent(cell, 'right'):.1f} % are right, less than {bar} %")
    if of_requests(cell) < SAMPLES_AT_LEAST:
        found.append(f"{of_requests(cell)} samples of requests are too few to tell")
    if cell.row.background and counts["nothing"] + counts["background"] < OWN_AT_LEAST:
        found.append("too few samples of nobody's work to tell")
    return found


def faults_of(cell):
    """What is wrong, one text each. No machine is the reason."""
    counts, found = cell.verdicts, []
    for word, what in (("wrong", "another request"), ("stale", "a request where there is no work for it")):
        if counts[word] > WRONG_AT_MOST * of_requests(cell):
            found.append(f"{counts[word]} samples have {what}")
    if counts["background"]:
        found.append(f"{counts['background']} samples of nobody's work have a request")
    return found


def complaints_of(cell):
    """All that is not as it should be."""
    return [f"{cell.table}, {cell.row.name}, {cell.in_flight} in flight: {text}" for text in faults_of(cell) + lacks_of(cell)]


def rows_to_see_again(cells, late):
    """Those of which something is less than it should be, or which came too late, and nothing is wrong."""
    wrong = {cell.row.name for cell in cells if faults_of(cell)}
    lacking = {row.name: row for row in [*[cell.row for cell in cells if lacks_of(cell)], *late]}
    return [row for name, row in lacking.items() if name not in wrong]


def columns(cell):
    counts = cell.verdicts
    why = ", ".join(f"{word} {100 * count / counts['none']:.0f} %" for word, count in cell.reasons.most_common(REASONS))
    own = f"{counts['background']} of {counts['nothing'] + counts['background']}" if cell.row.background else "-"
    last = str(counts["stale"]) if cell.table == "map" else why or "-"
    return [cell.row.name, str(cell.in_flight), str(of_requests(cell)), f"{per_cent(cell, 'right'):.1f}",
            f"{per_cent(cell, 'none'):.1f}", str(counts["wrong"]), own, last, str(cell.row.right or "-"),
            "MISSED" if complaints_of(cell) else "met"]


def whose_cells(server, plan, foreign=None):
    """What `ctxprop profile` says; the foreign reader, if there is one, looks at the same."""
    for in_flight in plan.in_flights:
        whose, begin = Whose(server, in_flight), time.monotonic_ns()
        requests = server.ask(in_flight, plan.seconds, REQUESTS_AT_LEAST)
        if foreign:
            foreign.cell(in_flight, begin, requests)
        yield Cell("whose", server.row, in_flight, *whose.end())


def map_cells(server, plan, foreign):
    for in_flight in plan.in_flights:
        begin = time.monotonic_ns()
        foreign.cell(in_flight, begin, server.ask(in_flight, plan.seconds, REQUESTS_AT_LEAST))
    yield from judged(server, foreign)


def judged(server, foreign):
    for in_flight, verdicts in foreign.end().items():
        yield Cell("map", server.row, in_flight, verdicts, Counter())


def look(scene, row, plan):
    """The cells of a row, one after the other; RuntimeError where its requests fail."""
    with Server(scene, row) as server:
        foreign = Foreign(server) if plan.tables == ["map"] or plan.at_once else None
        server.warm_up()
        if foreign:
            foreign.wait()
        if "whose" in plan.tables:
            yield from whose_cells(server, plan, foreign)
        if plan.at_once:
            yield from judged(server, foreign)
        elif "map" in plan.tables:
            if not foreign:
                foreign = Foreign(server)
                foreign.wait()
            yield from map_cells(server, plan, foreign)


# complaints: {name of a row that could not be looked at: why}. missing: rows that are not there. late: rows that came too late
Looked = namedtuple("Looked", "cells complaints missing late")

# tables: of TABLES. at_once: both look at the same requests
Plan = namedtuple("Plan", "tables in_flights seconds at_once")


def look_at_all(scene, rows, plan):
    """The cells of all rows that are there, and what became of the others."""
    looked = Looked([], {}, [], [])
    for row in rows:
        if what := missing(row):
            print(f"skip - {row.name}: {what} is not there", flush=True)
            looked.missing.append(row)
            continue
        try:
            for cell in look(scene, row, plan):
                looked.cells.append(cell)
                print(f"{cell.table}: " + "  ".join(columns(cell)), flush=True)
        except LATE as error:
            looked.late.append(row)
            broken(looked, row, error)
        except (AssertionError, RuntimeError) as error:
            broken(looked, row, error)
    return looked


def broken(looked, row, error):
    looked.complaints[row.name] = f"{row.name}: {error}"
    print(looked.complaints[row.name], flush=True)


def look_again(scene, looked, plan):
    """What is less than it should be, or came too late, is seen once more; the second look counts."""
    again = rows_to_see_again(looked.cells, looked.late)
    seen = look_at_all(scene, again, plan)
    names = {row.name for row in again}
    kept = {name: text for name, text in looked.complaints.items() if name not in names}
    return Looked([cell for cell in looked.cells if cell.row.name not in names] + seen.cells, {**kept, **seen.complaints},
                  looked.missing, seen.late)


def wanted_rows(names, short):
    begins = tuple(map(str.lower, names))
    return [row for row in ROWS if (row.name.lower().startswith(begins) if names else row.short or not short)]


def run(args):
    """The tables of requests. Returns the exit status."""
    tables = [args.table] if args.table else list(TABLES)
    in_flights = [int(word) for word in args.in_flight.split(",")] if args.in_flight else (
        SHORT_IN_FLIGHT if args.short else IN_FLIGHT)
    plan = Plan(tables, in_flights, args.seconds or (SHORT_SECONDS if args.short else SECONDS),
                args.short and len(tables) == len(TABLES))
    with Scene(os.path.abspath(args.build)) as scene:
        looked = look_again(scene, look_at_all(scene, wanted_rows(args.names, args.short), plan), plan)
    for name in tables:
        rows = in_order([columns(cell) for cell in looked.cells if cell.table == name])
        print(f"\n{name}\n\n{table(list(HEADS[name]), rows, True)}")
        if args.write and not args.short:
            write(name, rows, keep=args.names)
    return conclude(looked)


def in_order(rows):
    """Rows of a table as ROWS has their programs; without those that it does not have."""
    place = {row.name: number for number, row in enumerate(ROWS)}
    return sorted((row for row in rows if row[0] in place), key=lambda row: (place[row[0]], int(row[1])))


def write(name, rows, keep):
    """Put rows into the table of the page. keep: what it has of other programs stays."""
    seen = {row[0] for row in rows}
    kept = [row for row in page.read(name) if row[0] not in seen] if keep else []
    page.write(name, table(list(HEADS[name]), in_order(kept + rows), True))


def conclude(looked):
    """Say what is not as it should be, and how many cells are. Returns the exit status."""
    bad = [cell for cell in looked.cells if complaints_of(cell)]
    print("", *looked.complaints.values(), *[text for cell in bad for text in complaints_of(cell)], sep="\n")
    failed = len(bad) + len(looked.complaints)
    print(f"{len(looked.cells) - len(bad)} passed, {failed} failed, {len(looked.missing)} skipped")
    return int(failed > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--in-flight", help="so many requests in flight: numbers with commas")
    parser.add_argument("--seconds", type=float, help="of each cell")
    parser.add_argument("--short", action="store_true", help="few rows, and little of each")
    parser.add_argument("--write", action="store_true", help="put the tables, or these rows of them, into docs/profile.md")
    parser.add_argument("--self-test", action="store_true", help="is what is wrong found?")
    parser.add_argument("table", nargs="?", choices=("stacks", *TABLES), help="only this one")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    if args.self_test:
        import self_test
        return self_test.run()
    if args.table == "stacks":
        return stacks.run(os.path.abspath(args.build), args.names, args.write)
    missed = 0 if args.table or args.short else stacks.run(os.path.abspath(args.build), [], args.write)
    return run(args) or missed


if __name__ == "__main__":
    sys.exit(main())
