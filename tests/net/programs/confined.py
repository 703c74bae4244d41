# SPDX-License-Identifier: Apache-2.0
"""confined.py SCRIPT ARGS: a Python program that dies of system calls which it does not make itself.

Its filter (seccomp) knows nothing of the calls by which the kernel of x86-64 lets a probe's
trampoline return: uretprobe, 335, and uprobe, 336.
"""
import ctypes
import runpy
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
LOAD, IS, RETURN = 0x20, 0x15, 0x06
KILL, ALLOW = 0x80000000, 0x7fff0000
PROGRAM = ((LOAD, 0, 0, 0), (IS, 2, 0, 335), (IS, 1, 0, 336), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, KILL))

code = b"".join(struct.pack("HBBI", *line) for line in PROGRAM)
kept = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(PROGRAM), ctypes.addressof(kept)))
libc = ctypes.CDLL(None, use_errno=True)
for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, program)):
    if libc.prctl(*words):
        sys.exit(f"prctl: error {ctypes.get_errno()}")
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
