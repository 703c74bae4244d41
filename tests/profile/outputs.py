#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What profiles are written as, and what is read of them again: a profile whose every sample is known
(made.py) is read by `ctxprop profile show` and `diff`, and what they write by others' tools: `go tool
pprof`, speedscope in a browser, a reader of OTLP that knows only its numbers. And the same of a real one.

    outputs.py [--build DIR] [NAME...]
"""
import argparse
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "lab"), str(HERE.parent / "see")]

import outputs_bad  # noqa: E402
import outputs_diff  # noqa: E402
import outputs_first  # noqa: E402
import outputs_formats  # noqa: E402
import outputs_last  # noqa: E402
import outputs_last_real  # noqa: E402
import outputs_real  # noqa: E402
import outputs_tags  # noqa: E402
from outputs_tools import World  # noqa: E402
from tried import tried  # noqa: E402

CASES = {name[5:]: case
         for module in (outputs_formats, outputs_tags, outputs_diff, outputs_bad, outputs_first, outputs_last,
                        outputs_last_real, outputs_real)
         for name, case in vars(module).items() if name.startswith("case_")}


def run(name, build):
    """One case, in a folder of its own. Returns whether it did not fail."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-outputs-", ignore_cleanup_errors=True) as folder:
        return tried(name, CASES[name], World(build, Path(folder)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("names", nargs="*", choices=[[], *CASES], metavar="NAME")
    args = parser.parse_args()
    good = [run(name, os.path.abspath(args.build)) for name in args.names or CASES]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
