# SPDX-License-Identifier: Apache-2.0
"""Changes what a program has in its memory, as the program could itself: names, and where frames lead to. x86-64."""
import contextlib
import ctypes
import os
import re
import struct
from pathlib import Path

PTRACE_GETREGS, PTRACE_ATTACH, PTRACE_DETACH = 12, 16, 17
REGISTERS, RBP = 27, 4  # words; which of them
WALL = 0x40000000  # wait for threads, too
WILD = 0xdead0000dead0
NAME = b"burn_forged"
# Of the same length: it would clear a screen, end a line, a frame and a field, and is no UTF-8.
CONTROLS = b"\x1b[2J\n;\t\xff\xe2\x80\xae"
TEXT_BEFORE = 24  # bytes before a name that may say how long it is


@contextlib.contextmanager
def memory(pid):
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as file:
        yield file


def get(file, at, size):
    file.seek(at)
    return file.read(size)


def put(file, at, data):
    file.seek(at)
    file.write(data)


def writable(pid):
    """(from, to) of the memory that is the program's own."""
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        start, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
        if rights.startswith("rw") and "[v" not in line:
            yield int(start, 16), int(end, 16)


def names(pid, is_text):
    """Addresses of the names of the function. is_text: whether the bytes before one are those of a text so long."""
    with memory(pid) as file:
        for start, end in writable(pid):
            with contextlib.suppress(OSError):
                data = get(file, start, end - start)
                for found in re.finditer(re.escape(NAME), data):
                    if is_text(data[max(0, found.start() - TEXT_BEFORE):found.start()]):
                        yield start + found.start()


def is_ruby_text(before):
    """RString of Ruby 3.1 that has its characters in it (T_STRING, their number from bit 14 on)."""
    flags = int.from_bytes(before[-16:-8], "little")
    return len(before) >= 16 and flags & 0x1f == 5 and flags >> 14 & 0x1f == len(NAME)


def is_node_text(before):
    return before[-4:] == struct.pack("<I", len(NAME))


def is_java_text(before):
    return before[-2:] == struct.pack("<H", len(NAME))


def lengthen_ruby(file, at):
    """Its characters are elsewhere (RSTRING_NOEMBED), and very many."""
    flags = int.from_bytes(get(file, at - 16, 8), "little")
    put(file, at, struct.pack("<QQ", 1 << 60, at))
    put(file, at - 16, struct.pack("<Q", flags | 1 << 13))


def lengthen_node(file, at):
    put(file, at - 4, struct.pack("<I", 0x1fffffe8))


def lengthen_java(file, at):
    """And what is behind them, as far as nothing else is there, is no end of a text."""
    put(file, at - 2, struct.pack("<H", 0xffff))
    put(file, at + len(NAME), b"x" * (-(6 + len(NAME)) % 8))  # a Symbol's characters begin at 6


KINDS = {"ruby": (is_ruby_text, lengthen_ruby), "node": (is_node_text, lengthen_node), "java": (is_java_text, lengthen_java)}


def forge_names(pid, kind, how):
    """Names have control characters in them ("controls"), or are longer than all memory ("long"). Returns how many."""
    is_text, lengthen = KINDS[kind]
    found = list(names(pid, is_text))
    with memory(pid) as file:
        for at in found:
            if how == "controls":
                put(file, at, CONTROLS)
            else:
                lengthen(file, at)
    return len(found)


def hottest(pid):
    """The thread that has used most CPU."""
    def used(task):
        return int((task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11])
    return int(max(Path(f"/proc/{pid}/task").iterdir(), key=used).name)


@contextlib.contextmanager
def stopped(tid):
    """The thread is held meanwhile; gives its frame pointer."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    registers = (ctypes.c_uint64 * REGISTERS)()
    for request, data in ((PTRACE_ATTACH, None), (PTRACE_GETREGS, registers)):
        if libc.ptrace(request, tid, None, data):
            raise OSError(ctypes.get_errno(), "ptrace")
        if request == PTRACE_ATTACH:
            os.waitpid(tid, WALL)
    try:
        yield registers[RBP]
    finally:
        libc.ptrace(PTRACE_DETACH, tid, None, None)


def forge_frame(pid, how):
    """The frame of the function is called by itself ("cycle"), by one at an address that is none ("wild"), or is of a
    function there is none of ("nobody")."""
    tid = hottest(pid)
    with stopped(tid) as frame, memory(pid) as file:
        if how == "nobody":
            put(file, frame - 24, struct.pack("<QQ", WILD, WILD + 1))
        else:
            put(file, frame, struct.pack("<Q", frame if how == "cycle" else WILD))


RUBY_FRAME, RUBY_FRAME_BYTES = 16, 64  # of an execution context; of a control frame, in Ruby 3.1
RUBY_ENDLESS = 5000  # frames; the free part of the thread's stack has room for so many


def forge_ruby_frames(pid, context, how):
    """The innermost frame of the thread with this context is where nothing is ("wild"), or has thousands like itself
    inside it ("endless")."""
    with memory(pid) as file:
        frame, = struct.unpack("<Q", get(file, context + RUBY_FRAME, 8))
        inner = WILD
        if how == "endless":
            inner = frame - RUBY_ENDLESS * RUBY_FRAME_BYTES
            put(file, inner, get(file, frame, RUBY_FRAME_BYTES) * RUBY_ENDLESS)
        put(file, context + RUBY_FRAME, struct.pack("<Q", inner))
