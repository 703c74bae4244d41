# SPDX-License-Identifier: Apache-2.0
"""Runs rows one after the other and scores them."""
import subprocess

from rig import Rig, agent_reasons
from score import Result, Table, add_up, read_summary

# A run that has not ended after this is stuck as a whole; the client gives up long before.
LIMIT_SECONDS = 3600
SHOWN_LINES = 10
DISCOVERY_REQUESTS = 30
# Of the mishaps that each connection has in turn, this share must have come about.
SUFFERED = 0.8
# What is worst is shown first.
ORDER = ("corrupt", "double", "reset", "stuck", "missing")


def severity(line):
    kind = line.partition(":")[0]
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def shorten(text):
    lines = sorted(text.strip().splitlines(), key=severity)
    more = [f"... and {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join(lines[:SHOWN_LINES] + more)


def run_client(rig, row, requests, expect):
    """The requests of a row. (counts, exit status, what it complained about)."""
    parts, status, said = [], 0, ""
    stages = [(requests, row.connections)]
    if row.limit == "path" and row.expect == "one":
        # One connection finds out about the path first. Where many do so at a time, the kernel
        # drops segments of theirs before TC, and a head with a hole may go without a header.
        stages = [(DISCOVERY_REQUESTS, 1), (requests, row.connections)]
    for share, connections in stages:
        argv = rig.client_argv(share, expect, "--connections", connections)
        done = rig.client.run(argv, check=False, timeout=LIMIT_SECONDS)
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
        return Result(row.name, counts, status, notes)


def try_row(build, row, requests, seed, with_agent):
    try:
        return run_row(build, row, requests, seed, with_agent)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return Result(row.name, {}, 1, str(error))


def run(build, rows, requests, seed, with_agent):
    """All rows, the requests shared out evenly. Returns the exit status."""
    table = Table(max((len(row.name) for row in rows), default=20) + 1)
    table.head()
    for number, row in enumerate(rows):
        share = requests * (number + 1) // len(rows) - requests * number // len(rows)
        table.add(try_row(build, row, row.requests or share, seed, with_agent))
    return table.foot()
