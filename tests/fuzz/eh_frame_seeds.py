#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""eh_frame_seeds.py FOLDER: beginnings of .eh_frame of programs that are here."""
import struct
import sys
from pathlib import Path

PROGRAMS = ("/bin/bash", "/bin/ls", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3")


def section(data, wanted):
    """The contents of a section of a 64-bit ELF file, by its name."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    names_at = headers[names][4]
    for name, _, _, _, offset, length in headers:
        text = data[names_at + name:data.index(b"\0", names_at + name)]
        if text == wanted:
            return data[offset:offset + length]
    return b""


for number, path in enumerate(map(Path, PROGRAMS)):
    if path.exists():
        contents = section(path.read_bytes(), b".eh_frame")
        for size in (128, 600, 4000):
            (Path(sys.argv[1]) / f"{number}-{size}").write_bytes(contents[:size])
