#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Integrity of requests over bad links: the sweep, the agent's life, and the test of this test.

    chaos.py --short            a few thousand requests over a covering set (a good minute)
    chaos.py                    100,000 requests over all pairs of factors
    chaos.py --life             the agent is killed, restarted and stopped under 1,000 connections
    chaos.py --self-test        does the harness notice what it should? (no agent)

Every request must arrive unchanged, with exactly one traceparent, on a connection that neither
breaks nor stalls. A row that was only too late runs once more, and says so. Needs root. Exit status 0, 1 when anything was wrong, 77 when skipped.
"""
import argparse
import os
import signal
import sys
from pathlib import Path

import life
import rows
import selftest
import sweep

SKIPPED = 77


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=__doc__.split("\n", 2)[2])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--short", action="store_true", help="the covering set of CI")
    what.add_argument("--life", action="store_true", help="kill, restart and stop the agent")
    what.add_argument("--self-test", action="store_true", help="faults that must be noticed")
    what.add_argument("--list", action="store_true", help="print the rows' names")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        default=Path(__file__).resolve().parents[2] / "build",
                        help="build folder (build)")
    parser.add_argument("--agent", choices=("ctxpropd", "none"), default="ctxpropd",
                        help="none: no agent, and no header may appear")
    parser.add_argument("--requests", type=int, help="in all (100000; --short: 4200)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same run (1)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="rows at a time: most wait for their link (1)")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose name contains it")
    return parser.parse_args(argv)


def missing(args):
    """Why nothing can be run here, or None."""
    if os.geteuid():
        return "needs root for network namespaces"
    needed = ["tests/chaos/client", "tests/chaos/server", "tests/chaos/link"]
    needed += ["ctxpropd", "ctxprop"] if args.agent == "ctxpropd" and not args.self_test else []
    for program in needed:
        if not (args.build / program).exists():
            return f"{args.build / program} is not built"
    return None


def chosen(args):
    found = rows.SHORT if args.short else rows.SPECIAL + tuple(rows.covering(args.seed))
    return [row for row in found if args.only in row.name]


def main(argv):
    args = parse(argv)
    # so that labs are taken down, whoever ends this
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if args.list:
        print("\n".join(row.name for row in chosen(args)))
        return 0
    reason = missing(args)
    if reason:
        print(f"skipped: {reason}\n0 passed, 0 failed, 1 skipped")
        return SKIPPED
    print(f"seed {args.seed}, agent {args.agent}", flush=True)
    if args.self_test:
        return selftest.run(args.build, args.seed, args.only)
    if args.life:
        return life.run(args.build, args.seed, args.only)
    requests = args.requests or (4200 if args.short else 100_000)
    return sweep.run(args.build, chosen(args), requests, args.seed, args.agent == "ctxpropd",
                     args.jobs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
