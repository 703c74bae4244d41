#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With ctxpropd at work `ctxprop doctor` finds all in order: each event has a hook, and its probe loads.

    doctor_check.py --build BUILD

Exit code: 0, or 1 with what was found.
"""
import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    args = parser.parse_args()
    with Lab("doctor") as lab:
        host = lab.host("host")
        agent = Agent(host, args.build)
        findings = json.loads(host.run([f"{args.build}/ctxprop", "-j", "doctor"], check=False).stdout)
        wrong = [found for found in findings if found["finding"] != "ok"]
        if wrong:
            print(f"ctxpropd said:\n{agent.said()}\nctxprop doctor:", *wrong, sep="\n")
            return 1
    print(f"ok: {len(findings)} findings on {os.uname().release}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
