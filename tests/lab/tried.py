# SPDX-License-Identifier: Apache-2.0
"""Cases that are functions, tried one after the other: a line for each says what became of it."""
import subprocess
import traceback

from waiting import CommandFailed, NotInTime

LATE = (NotInTime, CommandFailed, TimeoutError, subprocess.TimeoutExpired)  # a busy machine may be why
LATE_MAX = 3  # cases of a run that may be late at first

late = []  # names of those that were


class Skip(Exception):
    """Raised by a case that cannot be run here; the text says why."""


def may_be_late(name, error):
    """A case was late: shall it run once more? Says what was waited for."""
    if not isinstance(error, LATE) or name in late or len(late) == LATE_MAX:
        return False
    late.append(name)
    print(f"# late: {name}: {type(error).__name__}: {error}", flush=True)
    return True


def tried(name, case, *args):
    """Run a case, whose docstring begins with its title; once more if it was late. Returns whether it did not fail."""
    title = f"{name}: {case.__doc__.splitlines()[0]}"
    try:
        case(*args)
    except Skip as skip:
        print(f"ok - {title} # SKIP {skip}", flush=True)
    except Exception as error:  # noqa: BLE001
        if may_be_late(name, error):
            return tried(name, case, *args)
        print(f"not ok - {title}\n{traceback.format_exc()}", flush=True)
        return False
    else:
        print(f"ok - {title}{' # again' if name in late else ''}", flush=True)
    return True
