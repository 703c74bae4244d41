# SPDX-License-Identifier: Apache-2.0
"""Flows put into the flow table by hand, to see which of them the daemon removes."""
import json
import socket
import struct
import subprocess

import hooks
import pinned

FORWARDED = 1 << 10


def bpftool(*argv):
    done = subprocess.run(["bpftool", "-j", *map(str, argv)], capture_output=True, text=True,
                          check=False)
    return json.loads(done.stdout or "null")


def layout(path):
    """Byte offset of each member of struct flow, from the map's type information."""
    btf = bpftool("map", "show", "pinned", path)["btf_id"]
    types = {t["id"]: t for t in bpftool("btf", "dump", "id", btf)["types"]}
    flow = next(t for t in types.values() if t["kind"] == "STRUCT" and t["name"] == "flow")
    return dict(members(types, flow, 0))


def members(types, struct_type, base):
    """(name, byte offset) of all members, those of unnamed unions and structs among them."""
    for member in struct_type["members"]:
        offset = base + member["bits_offset"] // 8
        if member["name"] == "(anon)":
            yield from members(types, types[member["type_id"]], offset)
        else:
            yield member["name"], offset


def mapped(address):
    return b"\0" * 10 + b"\xff\xff" + socket.inet_aton(address)


class Table:
    """The flow table of a host."""

    def __init__(self, host):
        self.path = pinned.layer(host) / "maps/flows"
        self.netns = hooks.cookie(host) & 0xffffffff
        self.offsets = layout(self.path)
        self.value_size = bpftool("map", "show", "pinned", self.path)["bytes_value"]

    def key(self, src, dst):
        return (mapped(src[0]) + mapped(dst[0]) + struct.pack("!HH", src[1], dst[1]) +
                struct.pack("=I", self.netns))

    def put(self, src, dst, seen_ns, offset=0, flags=0):
        """A flow whose last packet was at `seen_ns` (CLOCK_MONOTONIC)."""
        value = bytearray(self.value_size)
        struct.pack_into("=I", value, self.offsets["flags"], flags)
        struct.pack_into("=Q", value, self.offsets["seen_ns"], seen_ns)
        struct.pack_into("=Q", value, self.offsets["edits"], offset)
        error = bpftool("map", "update", "pinned", self.path, "key", *self.key(src, dst),
                        "value", *value)
        if error:
            raise RuntimeError(f"flow not put: {error}")

    def has(self, src, dst):
        found = bpftool("map", "lookup", "pinned", self.path, "key", *self.key(src, dst))
        return bool(found) and "error" not in found
