# SPDX-License-Identifier: Apache-2.0
"""The client of tests/chaos as the sweeps inside a guest use it, and the table of their cases."""
import subprocess
import time

SHOWN_FAILURES = 5


class Failed(Exception):
    """A case went wrong; the text says how."""


def send(host, build, address, *options, seconds):
    """Run the chaos client in `host` against `address`; returns its line of counts."""
    argv = [build / "tests/chaos/client", "--connect", address, "--stuck", 30, *options]
    try:
        done = host.run(argv, check=False, timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"client: not done after {seconds} s") from error
    if done.returncode:
        first = "\n".join(done.stderr.splitlines()[:SHOWN_FAILURES])
        raise Failed(f"client: exit {done.returncode}: {done.stdout}{first}")
    return done.stdout.strip()


def run_case(name, call, *args):
    """Print a line for a case, whose `call` returns what to say of it; False if it failed."""
    start = time.monotonic()
    try:
        verdict, said = "ok", call(*args)
    except Failed as error:
        verdict, said = "FAIL", str(error)
    print(f"{verdict:5}{name:34}{time.monotonic() - start:6.1f} s  {said}", flush=True)
    return verdict == "ok"
