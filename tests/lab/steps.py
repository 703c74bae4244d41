# SPDX-License-Identifier: Apache-2.0
"""Tests of which each step builds on the one before: the first that fails ends the test."""
import time
import traceback


def equal(got, wanted, what):
    assert got == wanted, f"{what}: {got!r}, not {wanted!r}"


def run(world, steps):
    """Each step, a function of the world with its title as docstring, until one fails. The exit status."""
    passed = 0
    for step in steps:
        begin = time.monotonic()
        try:
            step(world)
        except Exception:  # noqa: BLE001
            print(f"not ok - {step.__name__}: {step.__doc__}\n{traceback.format_exc()}", flush=True)
            break
        print(f"ok - {step.__name__}: {step.__doc__} ({time.monotonic() - begin:.0f} s)", flush=True)
        passed += 1
    failed = int(passed < len(steps))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed


def skip(missing):
    """Says that it cannot run, and why. The exit status."""
    print(f"skip: it needs root{''.join(f', {name}' for name in missing)}\n0 passed, 0 failed, 1 skipped")
    return 77
