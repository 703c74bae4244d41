# SPDX-License-Identifier: Apache-2.0
"""The agent's probes, which see every socket of the node: the bench takes them off the arms that
are measured without them and puts them back, which takes milliseconds."""
import os
import pathlib
import struct

import bpf_map
from bpf_map import bpf

NODE = pathlib.Path("/sys/fs/bpf/ctxprop/node")
PROG_GET_FD_BY_ID, RAW_TRACEPOINT_OPEN = 13, 17
LINK_TYPE_AT, LINK_PROG_ID_AT = 0, 8  # in struct bpf_link_info
LINK_CGROUP, LINK_ITER = 3, 4
READY = "-ready"  # programs without a link


def is_beside(link):
    """Does it run only when somebody reads it, or connects to a unix socket?"""
    return struct.unpack_from("I", bpf_map.info(link), LINK_TYPE_AT)[0] in (LINK_CGROUP, LINK_ITER)


class Probes:
    """Takes over all probes that are pinned; they end with the bench."""

    def __init__(self):
        pins = sorted(path for path in NODE.glob("**/links/*") if path.is_file() and not path.name.endswith(READY))
        self.links = [link for link in map(bpf_map.open_pin, pins) if not is_beside(link)]
        self.ids = [struct.unpack_from("I", bpf_map.info(link), LINK_PROG_ID_AT)[0]
                    for link in self.links]
        self.programs = [bpf(PROG_GET_FD_BY_ID, struct.pack("I", number)) for number in self.ids]
        for pin in pins:
            pin.unlink()

    def attach(self, wanted):
        """Have all of them on, or none."""
        if wanted and not self.links:
            self.links = [self.attached(program) for program in self.programs]
        elif not wanted:
            for link in self.links:
                os.close(link)
            self.links = []

    @staticmethod
    def attached(program):
        """Link of a program to what it was compiled for; kprobes have no such thing."""
        try:
            return bpf(RAW_TRACEPOINT_OPEN, struct.pack("QI", 0, program))
        except OSError as error:
            raise RuntimeError("cannot take the probes off and on: this kernel lacks the hooks "
                               f"that can ({error})") from error

    def close(self):
        self.attach(False)
        for program in self.programs:
            os.close(program)
        self.programs = []
