# SPDX-License-Identifier: Apache-2.0
"""Lines of the daemon's log, by the ids of their messages: texts may be reworded, ids stay."""


def logged(log, kind, *parts):
    """The lines with the id `kind` that have each of the parts in them."""
    return [line for line in log.splitlines()
            if line.endswith(f" [{kind}]") and all(part in line for part in parts)]
