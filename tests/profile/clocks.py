# SPDX-License-Identifier: Apache-2.0
"""When `ctxprop profile` begins to sample: loading its programs takes a second or more."""
import os


def has_clocks(pid):
    """Has `ctxprop profile` got as far as the clocks of the CPUs?"""
    folder = f"/proc/{pid}/fd"
    try:
        return any("perf_event" in os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder))
    except OSError:  # one was closed meanwhile
        return False
