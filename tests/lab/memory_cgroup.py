# SPDX-License-Identifier: Apache-2.0
"""Cgroups with a limit of memory, of version 1 or 2, whichever has memory here."""
import contextlib
import itertools
import os
import time
from pathlib import Path

_serial = itertools.count()


def _own(pattern):
    """The path of this process's cgroup in the hierarchy of this line of /proc/self/cgroup."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if pattern in line:
            return line.split(":", 2)[2].lstrip("/")
    return None


class MemoryCgroup:
    """A cgroup of ours below that of this process, or below the root. FileNotFoundError, OSError:
    there can be none."""

    def __init__(self, limit_mib=None):
        own = _own(":memory:")
        self.first = own is not None
        self.parent = (Path("/sys/fs/cgroup/memory", own) if self.first else Path("/sys/fs/cgroup"))
        self.home = self.parent if self.first else Path("/sys/fs/cgroup", _own("0::"))
        if not self.first and "memory" not in (self.parent / "cgroup.subtree_control").read_text():
            (self.parent / "cgroup.subtree_control").write_text("+memory")
        self.path = self.parent / f"ctxprop-memory-{os.getpid()}-{next(_serial)}"
        self.path.mkdir()
        if limit_mib:
            name = "memory.limit_in_bytes" if self.first else "memory.max"
            (self.path / name).write_text(str(limit_mib << 20))

    @contextlib.contextmanager
    def inside(self):
        """This process, and what it starts meanwhile, is in the cgroup."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            (self.home / "cgroup.procs").write_text(str(os.getpid()))

    def kernel_memory(self):
        """Bytes that the kernel has taken for it."""
        if self.first:
            return int((self.path / "memory.kmem.usage_in_bytes").read_text())
        stat = dict(line.split() for line in (self.path / "memory.stat").read_text().splitlines())
        return int(stat["kernel"])

    def killed(self):
        """How often a process of it was killed because there was no memory."""
        name = "memory.oom_control" if self.first else "memory.events"
        told = dict(line.split() for line in (self.path / name).read_text().splitlines())
        return int(told["oom_kill"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _ in range(100):  # its last process is not yet reaped
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.02)
        return self.path.rmdir()
