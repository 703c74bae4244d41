# SPDX-License-Identifier: Apache-2.0
"""What a test module needs: the @case decorator, Skip, and labs that several cases share."""
import functools
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from tried import Skip  # noqa: E402

# An agent needs three seconds of CPU time to start, and many a case starts some.
CASE_SECONDS = 90
BUILD = os.environ.get("CTXPROP_BUILD", str(Path(__file__).resolve().parents[2] / "build"))


def case(function=None, *, seconds=CASE_SECONDS, slow=False):
    """Mark a function as a test case. Its first docstring line is its title. slow: a quick run is without it."""
    if function is None:
        return functools.partial(case, seconds=seconds, slow=slow)
    function.case_seconds, function.case_slow = seconds, slow
    return function


def cases_of(module):
    """The cases of a module, in the order of their source."""
    return [value for value in vars(module).values() if hasattr(value, "case_seconds")]


_open = []


def shared(make):
    """Decorator: the context manager that `make` returns is entered once and left at the end."""
    @functools.cache
    def get():
        manager = make()
        value = manager.__enter__()
        _open.append(manager)
        return value
    return get


def close_shared():
    while _open:
        _open.pop().__exit__(None, None, None)


def need_program(*names):
    """Skip unless these programs are installed; returns the path of the first."""
    for name in names:
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")
    return shutil.which(names[0])


TYPE_ARGUMENTS = {"vlan": ("id", "7")}


def need_link_type(host, kind, *arguments):
    """Skip unless the kernel can make a device of this type in the host."""
    argv = ["ip", "link", "add", "probe0", *arguments, "type", kind, *TYPE_ARGUMENTS.get(kind, ())]
    done = host.run(argv, check=False)
    if done.returncode:
        raise Skip(f"this kernel makes no {kind} device: {done.stderr.strip()}")
    host.run(["ip", "link", "del", "probe0"])


def equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {got!r}")
