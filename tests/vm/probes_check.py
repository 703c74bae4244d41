#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every event that is followed has a hook on this kernel: the verifier takes the probes.

    probes_check.py --build BUILD

Exit code: 0, or 1 with the doctor's lines. Unix sockets, for which kernels before 6.3 have no
hook, may be missing.
"""
import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from lab import Lab  # noqa: E402

EVENTS = {"recv", "send", "connect", "fork", "exit", "exec", "wake", "older"}


def hooked(doctor):
    """Events that the doctor finds a hook for: lines "ok    probe EVENT     HOOK"."""
    lines = [line.split() for line in doctor.splitlines()]
    return {words[2] for words in lines if words[:2] == ["ok", "probe"] and len(words) > 3}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    args = parser.parse_args()
    with Lab("probes") as lab:
        doctor = Agent(lab.host("app"), args.build).command("doctor", check=False)
    missing = EVENTS - hooked(doctor)
    if missing:
        print(f"no hook for {', '.join(sorted(missing))}\n{doctor}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
