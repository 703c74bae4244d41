# SPDX-License-Identifier: Apache-2.0
"""Runs rows, one after the other or several at a time, and scores them."""
import dataclasses
import functools
import multiprocessing
import subprocess

from rig import Rig, agent_reasons
from score import WRONG, Result, Table, add_up, limits_of, read_summary
from waiting import NotInTime

# A run that has not ended after this is stuck as a whole; the client gives up long before. The
# slowest row has some 20 requests a second.
LIMIT_SECONDS, LEAST_RATE = 3600, 10
SHOWN_LINES = 10
DISCOVERY_REQUESTS = 30
# Of the mishaps that each connection has in turn, this share must have come about.
SUFFERED = 0.8
# A connection has so many requests in a long run, before there are more connections at a time: what
# a bad link makes them wait for is waited for by all of them at once.
REQUESTS_EACH, CONNECTIONS_MAX = 50, 256
# What is worst is shown first.
ORDER = ("corrupt", "double", "reset", "stuck", "missing")


def severity(line):
    kind = line.partition(":")[0]
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def shorten(text):
    lines = sorted(text.strip().splitlines(), key=severity)
    more = [f"... and {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join(lines[:SHOWN_LINES] + more)


def connections_of(row, requests):
    """How many connections at a time so many requests of a row have."""
    return max(row.connections, min(requests // REQUESTS_EACH, CONNECTIONS_MAX))


def run_client(rig, row, requests, expect):
    """The requests of a row. (counts, exit status, what it complained about)."""
    parts, status, said = [], 0, ""
    connections = connections_of(row, requests)
    stages = [(requests, connections)]
    if row.limit == "path" and row.expect == "one":
        # One connection finds out about the path first. Where many do so at a time, the kernel
        # drops segments of theirs before TC, and a head with a hole may go without a header.
        stages = [(DISCOVERY_REQUESTS, 1), (requests, connections)]
    for share, at_once in stages:
        argv = rig.client_argv(share, expect, "--connections", at_once)
        done = rig.client.run(argv, check=False, timeout=max(LIMIT_SECONDS, share / LEAST_RATE))
        parts.append(read_summary(done.stdout))
        status, said = status or done.returncode, said + done.stderr
    return {name: add_up(name, parts) for name in parts[-1]}, status, shorten(said)


def mishaps_missed(rig):
    """What is wrong when too few of the mishaps of `--each` happened: some packets of short
    connections never come, but few."""
    totals = rig.link_totals()
    there, suffered = totals["mishaps"], totals["suffered"]
    return "" if suffered >= SUFFERED * there else f"\nonly {suffered} of {there} mishaps happened"


def run_row(build, row, requests, seed, with_agent):
    """One row in a lab of its own."""
    with Rig(build, row, seed) as rig:
        agent = rig.start_agent() if with_agent else None
        counts, status, notes = run_client(rig, row, requests, row.expect if with_agent else "none")
        missed = mishaps_missed(rig) if row.each else ""
        status, notes = status or int(bool(missed)), notes + missed
        counts["retrans"] = rig.retransmissions()
        if row.aborts:
            left = rig.connections_left()
            counts["left"], notes = len(left), "\n".join([notes, *left[:SHOWN_LINES]])
        if agent:
            notes += f"\nagent: {agent_reasons(agent)}"
        if agent and agent.process.poll() is not None:
            notes += f"\nthe agent ended with {agent.process.returncode}:\n{agent.said()}"
            return Result(row.name, counts, 1, notes)
        is_wrong = not counts.get("requests") or any(counts.get(name) for name in WRONG)
        return Result(row.name, counts, status, notes, late=not is_wrong, limits=limits_of(row))


def try_row(build, seed, with_agent, row, requests):
    try:
        return run_row(build, row, requests, seed, with_agent)
    except (NotInTime, subprocess.TimeoutExpired) as error:
        return Result(row.name, {}, 1, str(error), late=True)
    except (RuntimeError, OSError) as error:
        return Result(row.name, {}, 1, str(error))


def try_again_if_late(build, seed, with_agent, row_and_requests):
    """A row whose time was not enough runs once more; what was wrong never does."""
    first = try_row(build, seed, with_agent, *row_and_requests)
    if first.ok or not first.late:
        return first
    second = try_row(build, seed, with_agent, *row_and_requests)
    return dataclasses.replace(second, again=True, notes=f"at first: {first.notes}\n{second.notes}")


def shares(rows, requests):
    """Each row with its requests: these are shared out evenly."""
    for number, row in enumerate(rows):
        share = requests * (number + 1) // len(rows) - requests * number // len(rows)
        yield row, row.requests or share


def run(build, rows, requests, seed, with_agent, jobs):
    """All rows, `jobs` at a time. Returns the exit status."""
    table = Table(max((len(row.name) for row in rows), default=20) + 1)
    table.head()
    work = functools.partial(try_again_if_late, build, seed, with_agent)
    if jobs == 1:
        for result in map(work, shares(rows, requests)):
            table.add(result)
        return table.foot()
    # Each row in a process with a file system of pins of its own. By fork: whoever is ended takes
    # its lab down, as this process does.
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for result in pool.imap_unordered(work, shares(rows, requests)):
            table.add(result)
        # They end by themselves: a signal to one that was just made would be lost, and so waited for.
        pool.close()
        pool.join()
    return table.foot()
