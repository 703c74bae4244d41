# SPDX-License-Identifier: Apache-2.0
"""Cases that are functions, tried one after the other: a line for each says what became of it."""
import traceback


class Skip(Exception):
    """Raised by a case that cannot be run here; the text says why."""


def tried(name, case, *args):
    """Run a case, whose docstring begins with its title. Returns whether it did not fail."""
    title = f"{name}: {case.__doc__.splitlines()[0]}"
    try:
        case(*args)
    except Skip as skip:
        print(f"ok - {title} # SKIP {skip}", flush=True)
    except Exception:  # noqa: BLE001
        print(f"not ok - {title}\n{traceback.format_exc()}", flush=True)
        return False
    else:
        print(f"ok - {title}", flush=True)
    return True
