# SPDX-License-Identifier: Apache-2.0
"""as_process.py PID PROGRAM [ARGUMENT...]: runs the program as a process of this number (clone3(2), x86-64), waits for
it, and ends as it has."""
import ctypes
import os
import signal
import sys

CLONE3 = 435
# struct clone_args
FLAGS, EXIT_SIGNAL, SET_TID, SET_TID_SIZE, WORDS = 0, 4, 8, 9, 10

number = (ctypes.c_int * 1)(int(sys.argv[1]))
arguments = (ctypes.c_uint64 * WORDS)()
arguments[EXIT_SIGNAL] = signal.SIGCHLD
arguments[SET_TID], arguments[SET_TID_SIZE] = ctypes.addressof(number), 1
libc = ctypes.CDLL(None, use_errno=True)
made = libc.syscall(CLONE3, arguments, ctypes.sizeof(arguments))
if made < 0:
    sys.exit(f"no process can have the number {sys.argv[1]}: {os.strerror(ctypes.get_errno())}")
if not made:
    os.execvp(sys.argv[2], sys.argv[2:])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(made, 0)[1]))
