#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No call gets a wrong id where any thread in the kernel may lose its processor to any other.

    preempt_check.py --build BUILD --requests N ROW...

Makes the kernel fully preemptible, as preempt=full on its command line does, and runs rows of
tests/accuracy, beside more busy threads than there are processors. Exit code: that of the run, in
which nothing but wrong and lost calls count; 77 if the kernel cannot be made so.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

ACCURACY = Path(__file__).resolve().parents[1] / "accuracy/accuracy.py"
MODE = Path("/sys/kernel/debug/sched/preempt")  # "none voluntary (full)"
IN_FLIGHT = 3  # a number that has no bar but that nothing is wrong
SKIP_STATUS = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--requests", type=int, required=True, help="of each row")
    parser.add_argument("rows", nargs="+", metavar="ROW", help="name of a row")
    args = parser.parse_args()
    before = MODE.read_text() if MODE.exists() else ""
    if "full" not in before:
        print("this kernel was not built with PREEMPT_DYNAMIC")
        return SKIP_STATUS
    MODE.write_text("full")
    print(f"preemption: {MODE.read_text().strip()}", flush=True)
    rows = [f"--row=={name}" for name in args.rows]
    try:
        return subprocess.run([sys.executable, "-B", ACCURACY, "--build", args.build, *rows,
                               "--in-flight", str(IN_FLIGHT), "--requests", str(args.requests),
                               "--busy", str(2 * os.cpu_count())], check=False).returncode
    finally:
        MODE.write_text(before[before.index("(") + 1:before.index(")")])


if __name__ == "__main__":
    sys.exit(main())
