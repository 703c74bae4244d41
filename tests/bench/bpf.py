# SPDX-License-Identifier: Apache-2.0
"""The few bpf(2) calls that the bench needs, and what /proc tells about BPF file descriptors."""
import contextlib
import ctypes
import glob
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from bpf_map import bpf  # noqa: E402

BPF_MAP_UPDATE_ELEM, BPF_MAP_GET_FD_BY_ID, BPF_ENABLE_STATS = 2, 14, 32


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
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
            ids |= {int(line.split()[1]) for line in file if line.startswith(f"{field}:")}
    return ids


def show(kind, number):
    """What bpftool knows of one object: kind is "prog" or "map"."""
    done = subprocess.run(["bpftool", "-j", kind, "show", "id", str(number)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shown(kind, numbers):
    """{id: what bpftool knows of it}, without those that are gone: while agents load, they try what the kernel can."""
    found = {}
    for number in numbers:
        with contextlib.suppress(subprocess.CalledProcessError):
            found[number] = show(kind, number)
    return found


class Programs:
    """Programs whose run times are read together: {"out": ids, "in": ids, "probes": ids}."""

    def __init__(self, sides):
        self.sides = sides

    def run_times(self):
        """{"out"|"in"|"probes": (nanoseconds, runs)} since loading, while Statistics were held."""
        return {side: self.total([show("prog", number) for number in numbers])
                for side, numbers in self.sides.items()}

    @staticmethod
    def total(shown):
        return (sum(program.get("run_time_ns", 0) for program in shown),
                sum(program.get("run_cnt", 0) for program in shown))


class Objects:
    """The TC programs of some agents (ctxprop_out_*, ctxprop_in_*), and the maps by name."""

    def __init__(self, pids):
        programs = {number for pid in pids for number in ids_of(pid, "prog_id")}
        names = {number: program["name"] for number, program in shown("prog", programs).items()}
        self.programs = Programs({side: [number for number, name in names.items()
                                         if name.startswith(f"ctxprop_{side}_")]
                                  for side in ("out", "in")})
        maps = {number for pid in pids for number in ids_of(pid, "map_id")}
        self.maps = {found["name"]: number for number, found in shown("map", maps).items()}

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
