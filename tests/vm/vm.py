#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run things on the kernels that ctxprop supports, each booted under QEMU.

    vm.py run 6.1 -- CMD...      one command in one kernel: its output, its exit code
    vm.py table [--short]        the tests of tests.py on all kernels, one table at the end
    vm.py fetch                  fetch the newest kernel of each series into the cache
"""
import argparse
import signal
import sys
from pathlib import Path

import guest
import kernels
import table

REPO = Path(__file__).resolve().parents[2]


def run(args):
    job = guest.Job(args.command, args.timeout)
    done = next(guest.run(kernels.get(args.kernel), [job], sys.stdout.buffer))
    if done.trouble:
        sys.exit(f"vm.py: kernel {args.kernel}: {done.trouble}")
    return done.status


def fetch(args):
    for series in args.kernels:
        kernel = kernels.fetch(series)
        print(f"{series}: {kernel.package} in {kernel.modules}")
    return 0


def show_table(args):
    return table.run(args.kernels, REPO, args.build, dict(args.build_of), args.short, args.only or [""])


def build_of(text):
    """SERIES=DIR as (series, folder)."""
    series, equals, folder = text.partition("=")
    if not equals or not folder:
        raise argparse.ArgumentTypeError(f"expected SERIES=DIR, as in 6.12=build: {text!r}")
    return series, Path(folder)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)

    one = commands.add_parser("run", help="one command in one kernel")
    one.add_argument("--timeout", type=int, default=120, help="seconds, boot included (120)")
    one.add_argument("kernel", help="a series that Debian ships: 6.1, 6.12 or newer")
    one.add_argument("command", nargs="+", metavar="-- CMD")
    one.set_defaults(act=run)

    many = commands.add_parser("table", help="the tests on all kernels")
    many.add_argument("--short", action="store_true", help="leave out the long tests")
    many.add_argument("--build", type=Path, default=REPO / "build", help="build folder")
    many.add_argument("--build-of", type=build_of, action="append", default=[], metavar="SERIES=DIR",
                      help="another build folder for the verifier and packets there")
    many.add_argument("--only", metavar="TEXT", action="append", help="tests whose name contains TEXT, or one of several")
    many.set_defaults(act=show_table)

    get = commands.add_parser("fetch", help="fetch the newest kernels")
    get.set_defaults(act=fetch)
    for command in (many, get):
        command.add_argument("--kernels", nargs="+", metavar="SERIES", default=kernels.SERIES,
                             help=" and ".join(kernels.SERIES))
    return parser.parse_args(argv)


def main(argv):
    args = parse(argv)
    # So that an ended vm.py ends its QEMU.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    missing = guest.missing_programs()
    if missing:
        sys.exit(f"vm.py: not installed; try: apt-get install {' '.join(missing)}")
    try:
        return args.act(args)
    except kernels.FetchError as error:
        sys.exit(f"vm.py: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
