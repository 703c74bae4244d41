#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How often a call carries the trace of the request that it was made for, with real programs.

    client  -->  an application that copies no header but x-truth  -->  upstream

Clients send requests with a traceparent and a unique x-truth, so many in flight; the upstream
holds the trace id of each call against that of the request which its x-truth names. right: the
same; wrong: that of another request; unknown: a trace that no client began. "learnt" is what is
right of the calls for others than the first requests of a cell. "own" are calls of the program's
own, which belong to no request. Exit status 1 if a bar of bars.tsv is missed, a single
call is wrong, a request failed, or a call has not exactly one header.
"""
import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

import ablation
import metadata
import self_test
from report import HEAD, Cell, Way, line, markdown, read_bars, rules
from rows import PORT, ROWS
from traffic import Traffic, Upstream
from truth import Ledger
from world import MAY_BE_ABSENT, Application, World, make, private_mounts

REQUESTS = {1: 100, 8: 400, 64: 800}
REQUESTS_SHORT = {1: 15, 8: 60, 64: 128}
LIKE = 8  # in flight: at numbers that are not in these tables there are as many requests
COLD = 8  # in flight, for programs that have just been started
SETTLE_SECONDS = 0.1


def stats(world):
    """{group: {name: count}}, nothing without an agent."""
    return json.loads(world.agent.command("stats", "--json")) if world.agent else {}


async def run_cell(row, world, ledger, address, requests, in_flight):
    """(Score, rules in words, failed requests in words)"""
    ledger.clear()
    before = stats(world)
    traffic = Traffic(row, world.addresses(row)[0], (address, PORT), ledger)
    failed = await traffic.run(requests, in_flight)
    await asyncio.sleep(SETTLE_SECONDS)
    return ledger.score(), rules(before, stats(world)), failed


async def run_row(row, world, ledger, requests):
    """Yields (in flight, *what run_cell returns) for each number in flight."""
    _, address, host, outside = world.addresses(row)
    upstream = Upstream(host, outside, ledger, row.answer)
    await upstream.start()
    application = Application(world, row, PORT, upstream.address)
    try:
        await asyncio.to_thread(application.start)  # some ask the upstream from the beginning
        for in_flight, number in requests.items():
            score, said, failed = await run_cell(row, world, ledger, address, number, in_flight)
            if failed:
                failed.append(f"the programs said: {application.said()}")
            yield in_flight, score, said, failed
    finally:
        application.stop()
        upstream.server.close()


async def run_row_cold(row, world, ledger, requests):
    """The same, with programs that have just begun to listen, for each number in flight."""
    for in_flight, number in requests.items():
        async for cell in run_row(row, world, ledger, {in_flight: number}):
            yield cell


async def matrix(world, rows, requests, way):
    """Print the table; returns its cells."""
    bars, ledger, cells = read_bars(), Ledger(), []
    run = run_row_cold if way.cold else run_row
    print(line(HEAD), flush=True)
    for row in rows:
        async for in_flight, score, said, failed in run(row, world, ledger, requests):
            bar = bars[row.name]
            cells.append(Cell(row.name, in_flight, score, said, bar.least(in_flight, way),
                              bar.least_learnt(in_flight, way), failed))
            print(line(cells[-1].columns()), flush=True)
            for what in cells[-1].broken():
                print(f"    {what}", flush=True)
    return cells


async def metadata_matrix(world, rows, requests, stored):
    """Print what the view `inferred` says of each row; returns the cells."""
    ledger, cells = Ledger(), []
    print(metadata.line(metadata.HEAD), flush=True)
    for row in rows:
        last = stored.last()
        async for in_flight, score, _, failed in run_row(row, world, ledger, requests):
            cells.append(await asyncio.to_thread(stored.judge, row.name, in_flight, last, score,
                                                 failed))
            print(metadata.line(cells[-1].columns()), flush=True)
            for what in cells[-1].failed:
                print(f"    {what}", flush=True)
            last = stored.last()
    return cells


async def matrix_with_second_look(world, rows, requests, way):
    """With few requests one call decides about a cell, and beside other tests a loaded machine about
    that call: rows in which only too few calls are right are run once more, and that counts. Both
    stand in the table. What is broken stays so."""
    cells = await matrix(world, rows, requests, way)
    broken = {cell.row for cell in cells if cell.broken()}
    missed = {cell.row for cell in cells if cell.missed()} - broken
    if not missed:
        return cells
    print(f"\nonce more: {' '.join(sorted(missed))}", flush=True)
    again = await matrix(world, [row for row in rows if row.name in missed], requests, way)
    return [cell for cell in cells if cell.row not in missed] + again


def present(rows):
    """The rows whose programs are all there; says which are not."""
    for row in rows:
        find, what = MAY_BE_ABSENT.get(row.needs, (None, ""))
        if find and not find():
            print(f"{row.name}: skipped: {what} is not installed")
        else:
            yield row


def summary(cells, skipped):
    """The last lines: open problems that have a bar of their own, and the count."""
    bars = read_bars()
    for row in dict.fromkeys(cell.row for cell in cells):
        if bars[row].note.startswith("open"):
            print(f"{row}: {bars[row].note}")
    failed = sum(cell.missed() for cell in cells)
    print(f"{len(cells) - failed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)


async def prove(world):
    """The self-test; returns lines of what is wrong."""
    wrong = [*self_test.scoring(), *self_test.learning(), *self_test.inferring()]
    for row, with_agent, holds in self_test.LIES:
        if not with_agent and world.agent:
            world.stop_agent()
        requests = {self_test.IN_FLIGHT: self_test.REQUESTS}
        async for _, score, _, failed in run_row(row, world, Ledger(), requests):
            ok = holds(score) and not failed
            print(f"{'ok' if ok else 'not ok'} - {row.name}: {row.title}: {score}", flush=True)
            wrong += [] if ok else [f"{row.name}: {failed}"]
    return wrong


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (build)")
    parser.add_argument("--row", action="append", metavar="NAME",
                        help="only rows whose name contains it, or =NAME for just that one")
    parser.add_argument("--rows", choices=["metadata"], help="metadata: what the store's view "
                        f"`inferred` says without ids ({' '.join(metadata.ROWS)}, or those of --row)")
    parser.add_argument("--in-flight", type=int, action="append", metavar="N",
                        help=f"so many at once, instead of {', '.join(map(str, REQUESTS))}; for other "
                        "numbers the only bar is that nothing is wrong")
    parser.add_argument("--requests", type=int, help="in each cell, instead of " +
                        ", ".join(f"{n} at {i}" for i, n in REQUESTS.items()))
    parser.add_argument("--short", action="store_true", help="few requests: for CI, without rows that "
                        "take long to build unless --row names them")
    parser.add_argument("--cold", action="store_true", help="each cell begins with new programs, "
                        f"without a first request to learn from ({COLD} in flight)")
    parser.add_argument("--markdown", action="store_true", help="in the end, the table once more as it "
                        "stands in docs/accuracy.md")
    parser.add_argument("--list", action="store_true", help="the rows and their bars")
    parser.add_argument("--self-test", action="store_true", help="prove that the matrix can fail")
    parser.add_argument("--without", action="append", default=[], metavar="RULE", help="once more without "
                        "this rule of the engine (docs/engine.md), side by side; takes a build with "
                        "-DCTXPROP_ABLATION=ON, which ./run accuracy --without makes")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="beside so many processes that "
                        "do nothing but run")
    parser.add_argument("--agent", action="append", default=[], metavar="OPTION",
                        help="an option for ctxpropd, as in --agent=--log=debug")
    args = parser.parse_args()
    if args.requests is not None and args.requests < 1:
        parser.error("--requests: expected a number above 0")
    if min(args.in_flight or [1]) < 1:
        parser.error("--in-flight: expected a number above 0")
    args.metadata = args.rows == "metadata"
    if args.metadata and not args.row:
        args.row = [f"={name}" for name in metadata.ROWS]
    args.rows = [row for row in ROWS if not args.row or
                 any(row.name == n[1:] if n[0] == "=" else n in row.name for n in args.row)]
    if args.short and not args.row:
        args.rows = [row for row in args.rows if not row.slow]
    if not args.rows:
        parser.error(f"no row has {' or '.join(args.row)} in its name; --list shows them all")
    return args


def chosen(args):
    """{in flight: number of requests}"""
    table = REQUESTS_SHORT if args.short else REQUESTS
    if args.metadata:
        table = metadata.REQUESTS_SHORT if args.short else metadata.REQUESTS
    in_flight = args.in_flight or ([COLD] if args.cold else table)
    return {n: args.requests or table.get(n, table[LIKE]) for n in in_flight}


def show_rows(rows):
    bars = read_bars()
    for row in rows:
        least = "/".join(f"{n:g}" for n in bars[row.name].right.values())
        print(f"{row.name:20} {row.title}\n{'':20} right >= {least} %, short {bars[row.name].short:g} %: {bars[row.name].note}")
    return 0


def infer(world, rows, requests, stored):
    """Runs the rows for the view `inferred`; the exit status."""
    cells = asyncio.run(metadata_matrix(world, rows, requests, stored))
    missed = sum(cell.missed() for cell in cells)
    print(f"{len(cells) - missed} passed, {missed} failed, 0 skipped")
    return int(missed > 0)


def ablate(world, rows, args):
    """Runs the rows with all rules, and then without each one that is named; the exit status."""
    way, found = Way(args.short, args.cold), []
    every = asyncio.run(matrix(world, rows, chosen(args), way))
    for rule in args.without:
        print(f"\nwithout {rule}:", flush=True)
        world.stop_agent()
        world.start_agent("--without", rule, *args.agent)
        cells = asyncio.run(matrix(world, rows, chosen(args), way))
        found += ablation.pairs(rule, every, cells)
    print("\n" + "\n".join(ablation.line(columns)
                           for columns in (ablation.HEAD, *[pair.columns() for pair in found])))
    if args.markdown:
        print(f"\n{ablation.markdown(found)}\n")
    return int(any(cell.broken() for cell in every))


def run(args):
    private_mounts()
    with World(args.build) as world:
        rows = list(present(args.rows))
        for kind in sorted({row.make for row in rows if row.make}):
            make(kind, world.made)
        store = Path(world.folder.name) / "store.db"
        world.start_agent(*(["--store", store] if args.metadata else []), *args.agent)
        world.keep_busy(args.busy)
        if args.self_test:
            wrong = asyncio.run(prove(world))
            print("\n".join(wrong))
            return int(bool(wrong))
        if args.metadata:
            return infer(world, rows, chosen(args), metadata.Stored(store))
        if args.without:
            return ablate(world, rows, args)
        look = matrix_with_second_look if args.short else matrix
        cells = asyncio.run(look(world, rows, chosen(args), Way(args.short, args.cold)))
        if args.markdown:
            print(f"\n{markdown(cells)}\n")
        return summary(cells, len(args.rows) - len(rows))


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return show_rows(args.rows) if args.list else run(args)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, OSError) as error:
        sys.exit(f"accuracy: {error}")
