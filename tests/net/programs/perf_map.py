# SPDX-License-Identifier: Apache-2.0
"""perf_map.py HOW: burns CPU in code that it has made itself, once a line was read; a file for perf says what that is.

HOW "names": functions that overlap, have no end, or a name that cannot be shown. "huge": a file of a terabyte. "fifo":
nobody writes to it. "device": /dev/zero.
"""
import ctypes
import mmap
import os
import socket
import sys

# mov $100000000,%ecx; 1: dec %ecx; jnz 1b; ret
CODE = bytes.fromhex("b900e1f505" "ffc9" "75fc" "c3")
PATH = f"/tmp/perf-{os.getpid()}.map"


def write(how, address):
    if how == "fifo":
        os.mkfifo(PATH)
    elif how == "device":
        os.symlink("/dev/zero", PATH)
    else:
        with open(PATH, "wb") as file:
            file.write(b"%x 1000 named_by_a_map\n0 ffffffffffffffff named_by_a_map_too\n%x 10 \x1b[2J%s\n" %
                       (address, address, b"named_by_a_map" * 100000))
            if how == "huge":
                file.truncate(1 << 40)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    write(sys.argv[1], address)
    print("listening", flush=True)
    sys.stdin.readline()
    print("ready", flush=True)
    with listener:
        while True:
            ctypes.CFUNCTYPE(None)(address)()


main()
