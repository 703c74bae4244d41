# SPDX-License-Identifier: Apache-2.0
"""ELF files (64 bits, little endian, x86-64) with just the sections that somebody wants."""
import struct
from collections import namedtuple

PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, DYNSYM = 1, 2, 3, 4, 8, 11
PAGE = 4096
HEADER, SEGMENT, SECTION, SYMBOL = 64, 56, 64, 24
FUNCTION = 2  # STT_FUNC

# data: bytes. At offset `at` of the file if that is given, with `size` bytes in the header.
Section = namedtuple("Section", "name type data at size link", defaults=(PROGBITS, b"", None, None, 0))


def symbols(named):
    """(.dynsym, .dynstr) for {name: (address, size)}; the latter is to be section 2."""
    names, table = b"\0", bytes(SYMBOL)
    for name, (address, size) in named.items():
        table += struct.pack("<IBBHQQ", len(names), 1 << 4 | FUNCTION, 0, 1, address, size)
        names += name.encode() + b"\0"
    return Section(".dynsym", DYNSYM, table, link=2), Section(".dynstr", STRTAB, names)


def relocation(where, kind=8, addend=0):
    """One entry of a section of type RELA."""
    return struct.pack("<QQq", where, kind, addend)


def address_of(sections, name):
    """Where the section of this name will be, in the file and in memory."""
    at = HEADER + SEGMENT
    for section in sections:
        at += -(at - HEADER - SEGMENT) % 16
        if section.name == name:
            return at
        at += len(section.data)
    raise KeyError(name)


def elf(sections, file_size=None):
    """The bytes of a file, all of which is loaded at address 0 as code. Sections begin with 1."""
    names, placed, body = b"\0", [(0,) * 10], b""
    begin = HEADER + SEGMENT
    for section in [*sections, Section(".shstrtab", STRTAB)]:
        name = len(names)
        names += section.name.encode() + b"\0"
        data = names if section.name == ".shstrtab" else section.data
        body += bytes(-len(body) % 16)
        at = begin + len(body) if section.at is None else section.at
        size = len(data) if section.size is None else section.size
        entry = {DYNSYM: SYMBOL, SYMTAB: SYMBOL, RELA: SYMBOL}.get(section.type, 0)
        placed.append((name, section.type, 2, at, at, size, section.link, 0, 8, entry))
        body += data
    body += bytes(-len(body) % 16)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *header) for header in placed)
    size = file_size or begin + len(body) + len(table)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, HEADER,
                         begin + len(body), 0, HEADER, SEGMENT, 1, SECTION, len(placed),
                         len(placed) - 1)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, PAGE)
    return header + segment + body + table
