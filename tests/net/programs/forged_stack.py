# SPDX-License-Identifier: Apache-2.0
"""forged_stack.py HOW: Python 3.11 whose frames lie, and that burns CPU in burn_forged().

    cycle  the frame is called by itself
    wild   it is called by one at an address that is none
    long   its function's name has 2^60 characters
    none   all is as it should be
"""
import ctypes
import socket
import sys

OF_FRAME, PREVIOUS, CODE = 24, 48, 32  # of a frame object; of an interpreter's frame
NAME, QUALIFIED, LENGTH = 112, 120, 16  # of a code object; of a text
WILD = 0xdead0000dead0


def word(address):
    return ctypes.c_uint64.from_address(address)


def forge(how):
    frame = word(id(sys._getframe(1)) + OF_FRAME).value
    code = word(frame + CODE).value
    if how == "cycle":
        word(frame + PREVIOUS).value = frame
    elif how == "wild":
        word(frame + PREVIOUS).value = WILD
    elif how == "long":
        for name in (NAME, QUALIFIED):
            word(word(code + name).value + LENGTH).value = 1 << 60


listener = socket.create_server(("127.0.0.1", 0))
print("listening", flush=True)
sys.stdin.readline()


def burn_forged(how):
    number = 0
    forge(how)
    print("ready", flush=True)
    while True:
        number = (number + 1) % 1000003


burn_forged(sys.argv[1])
