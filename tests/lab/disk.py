# SPDX-License-Identifier: Apache-2.0
"""Small file systems, to be filled up."""
import contextlib
import errno
import os

from lab import own_pins, sh

PAGE = os.sysconf("SC_PAGESIZE")


@contextlib.contextmanager
def small_disk(path, kib):
    """A folder `path` that is a file system of so many KiB, for this process and its children alone."""
    own_pins()
    path.mkdir()
    sh("mount", "-t", "tmpfs", "-o", f"size={kib}k,mode=0700", "tmpfs", path)
    try:
        yield path
    finally:
        sh("umount", "-l", path, check=False)


def fill(path):
    """A file that takes all the room there is."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
