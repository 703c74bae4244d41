# SPDX-License-Identifier: Apache-2.0
"""Tar files of which the same contents give the same bytes: in order, root's, and of one time."""
import gzip
import io
import tarfile
from collections import namedtuple
from pathlib import Path

# What is at a path: bytes of a file, a link's target, or None for a folder.
Entry = namedtuple("Entry", "data mode", defaults=(0o644,))


class Link(str):
    """Where a symbolic link leads."""


def folders_of(paths):
    """Every folder above these paths."""
    return {str(folder) for path in paths for folder in Path(path).parents if str(folder) != "."}


def member(path, entry, time):
    """The head of an entry in a tar file."""
    info = tarfile.TarInfo(path)
    info.mtime, info.mode, info.uname, info.gname = time, entry.mode, "root", "root"
    if entry.data is None:
        info.type = tarfile.DIRTYPE
    elif isinstance(entry.data, Link):
        info.type, info.linkname = tarfile.SYMTYPE, entry.data
    else:
        info.size = len(entry.data)
    return info


def tar(entries, time):
    """The bytes of a tar file; entries: {path: Entry}, to which the folders above are added."""
    whole = {folder: Entry(None, 0o755) for folder in folders_of(entries)} | entries
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(whole):
            info = member(path, whole[path], time)
            archive.addfile(info, io.BytesIO(whole[path].data) if info.isreg() else None)
    return out.getvalue()


def pack(data, time):
    """The bytes of a gzip file."""
    return gzip.compress(data, compresslevel=9, mtime=time)


def read(path, mode=0o644):
    """The Entry that a file becomes."""
    return Entry(Path(path).read_bytes(), mode)
