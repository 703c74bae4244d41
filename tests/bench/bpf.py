# SPDX-License-Identifier: Apache-2.0
"""The few bpf(2) calls that the bench needs, and what /proc tells about BPF file descriptors."""
import ctypes
import glob
import json
import os
import struct
import subprocess

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
BPF_MAP_UPDATE_ELEM, BPF_MAP_GET_FD_BY_ID, BPF_ENABLE_STATS = 2, 14, 32

LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command, attributes):
    """bpf(2); the result, or OSError."""
    buffer = ctypes.create_string_buffer(attributes, 128)
    result = LIBC.syscall(SYS_BPF, command, buffer, 128)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"bpf command {command}: {os.strerror(error)}")
    return result


class Statistics:
    """Run times of BPF programs are counted while this is held, also should the bench be killed."""

    def __enter__(self):
        self.fd = bpf(BPF_ENABLE_STATS, struct.pack("I", 0))
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def ids_of(pid, field):
    """Ids of the BPF objects that a process holds; field is "prog_id" or "map_id"."""
    ids = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with open(path, encoding="ascii") as file:
            ids |= {int(line.split()[1]) for line in file if line.startswith(f"{field}:")}
    return ids


def show(kind, number):
    """What bpftool knows of one object: kind is "prog" or "map"."""
    done = subprocess.run(["bpftool", "-j", kind, "show", "id", str(number)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Objects:
    """The programs and maps of one agent, by name."""

    def __init__(self, pid):
        self.programs = {number: show("prog", number)["name"]
                         for number in ids_of(pid, "prog_id")}
        self.maps = {show("map", number)["name"]: number for number in ids_of(pid, "map_id")}

    def run_times(self):
        """{"out"|"in": (nanoseconds, runs)} of the TC programs, over all devices."""
        total = {"out": (0, 0), "in": (0, 0)}
        for number, name in self.programs.items():
            side = name.split("_")[1] if name.startswith("ctxprop_") else None
            if side not in total:
                continue
            info = show("prog", number)
            total[side] = (total[side][0] + info.get("run_time_ns", 0),
                           total[side][1] + info.get("run_cnt", 0))
        return total

    def pause(self, paused):
        """Set struct control in the map `control`: 1 stops new edits."""
        value = ctypes.create_string_buffer(struct.pack("I", int(paused)), 64)
        key = ctypes.create_string_buffer(struct.pack("I", 0))
        fd = bpf(BPF_MAP_GET_FD_BY_ID, struct.pack("I", self.maps["control"]))
        try:
            bpf(BPF_MAP_UPDATE_ELEM, struct.pack("IIQQQ", fd, 0, ctypes.addressof(key),
                                                 ctypes.addressof(value), 0))
        finally:
            os.close(fd)
