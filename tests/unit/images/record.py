#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Records the memory that readers of Python look at: record.py [PYTHON] >python-3.MINOR.txt

Starts an interpreter whose functions call one another, directly and by C, until the innermost one
waits. What stands where is asked of the interpreter itself; of its memory only the bytes around
what it names are kept, so that an image is small, and says nothing of the machine. For x86-64.
"""
import argparse
import json
import struct
import subprocess

from memory import Memory

PROGRAM = r"""
import ctypes, json, os, sys, threading

class Service:
    def answer(self, count):
        return sorted(range(count), key=self.rank_by_c)[0]

    def rank_by_c(self, item):
        return next(self.items_by_c(item))

    def items_by_c(self, item):
        yield self.deep(item + 2)

    def deep(self, more):
        return self.deep(more - 1) if more else wait()

def frames():
    frame = sys._getframe(1)
    while frame:
        code = frame.f_code
        yield {"name": getattr(code, "co_qualname", code.co_name), "code": id(code),
               "code_name": id(code.co_name), "file": id(code.co_filename),
               "qualified": id(getattr(code, "co_qualname", code.co_name)), "frame": id(frame),
               "entry": code.co_name.endswith("_by_c") or not frame.f_back}
        frame = frame.f_back

def wait():
    ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
    told = {"minor": sys.version_info[1], "version": sys.version.split()[0],
            "thread": threading.get_ident(), "state": ctypes.pythonapi.PyThreadState_Get(),
            "runtime": ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")),
            "frames": list(frames())[1:]}
    told["frames"].insert(0, next(iter(frames())))
    os.write(1, json.dumps(told).encode() + b"\n")
    os.read(0, 1)

def main():
    Service().answer(1)

main()
"""
# glibc's struct pthread: thread-specific data, a number and a pointer for each key.
DATA, DATA_SIZE, KEYS = 0x310, 16, 32
RUNTIME_SIZE = 0x2000       # that much of _PyRuntime is searched for the key
FRAME = 24                  # PyFrameObject.f_frame, of 3.11 and newer
BEFORE = {11: 48, 12: 8, 13: 8}  # _PyInterpreterFrame.previous
FIRST = {11: 56, 12: 56, 13: 72}  # PyThreadState: what leads to the innermost frame
SIZES = {"state": 352, "frame": 136, "code": 192, "text": 96, "link": 32}


def key_address(memory, told):
    """Where Python keeps the number of the thread-specific data that leads to its state."""
    keys = [key for key in range(KEYS)
            if memory.word(told["thread"] + DATA + key * DATA_SIZE + 8) == told["state"]]
    for key in keys:
        initialized = struct.pack("<II", 1, key)  # Py_tss_t
        at = memory.read(told["runtime"], RUNTIME_SIZE).find(initialized)
        if at >= 0:
            return told["runtime"] + at + 4
    raise SystemExit("the key of thread-specific data is not in _PyRuntime")


def keep_all(memory, told):
    minor = told["minor"]
    memory.keep(told["thread"] + DATA, KEYS * DATA_SIZE)
    memory.keep(told["state"], SIZES["state"])
    memory.keep(memory.word(told["state"] + FIRST[minor]), SIZES["link"])
    for frame in told["frames"]:
        address = memory.word(frame["frame"] + FRAME)
        memory.keep(address, SIZES["frame"])
        memory.keep(frame["code"], SIZES["code"])
        for text in ("code_name", "file", "qualified"):
            memory.keep(frame[text], SIZES["text"])
        # Of C's frames nobody tells but those that they have called.
        before = memory.word(address + BEFORE[minor])
        if before:
            memory.keep(before, SIZES["frame"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", nargs="?", default="/usr/bin/python3")
    args = parser.parse_args()
    with subprocess.Popen([args.python, "-I", "-S", "-c", PROGRAM], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as child:
        told = json.loads(child.stdout.readline())
        if told["minor"] not in BEFORE:
            raise SystemExit(f"Python 3.{told['minor']} is not known here")
        memory = Memory(child.pid)
        key = key_address(memory, told)
        memory.keep(key, 8)  # readers take whole words, wherever they begin
        keep_all(memory, told)
        lines = list(memory.lines())
        child.stdin.close()
    print("# SPDX-License-Identifier: Apache-2.0")
    print(f"# Memory of CPython {told['version']}, as record.py has found it. Functions: the innermost first.")
    print(f"minor {told['minor']}\nthread {told['thread']:x}\nkey {key:x}")
    for frame in told["frames"]:
        print(f"function {frame['code']:x} {frame['code_name']:x} {int(frame['entry'])} {frame['name']}")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
