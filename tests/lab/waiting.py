# SPDX-License-Identifier: Apache-2.0
"""Waiting for what must come, by its sign."""
import time

SECONDS = 60  # nothing takes so long, but a busy machine or an emulated one may


class NotInTime(AssertionError):
    """What was waited for has not come."""


def wait_until(holds, what, seconds=SECONDS):
    """Wait until `holds` returns something true, which is returned.

    what: what is waited for, or a function that says what is there instead, for the NotInTime
    that is raised after so many seconds.
    """
    end = time.monotonic() + seconds
    while not (answer := holds()):
        if time.monotonic() > end:
            raise NotInTime(f"waited {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.01)
    return answer


class CommandFailed(RuntimeError):
    """A command that was to succeed has not: it may have asked too early, or too late."""
