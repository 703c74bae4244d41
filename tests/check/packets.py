# SPDX-License-Identifier: Apache-2.0
"""Checks of how the packet programs are put together. Each yields one line per wrong place."""
import re

FOLDER = "bpf/tc/"
INDEXES = ("bpf/tc/outbound.bpf.c", "bpf/tc/inbound.bpf.c")
WRITER = "bpf/tc/60-write.bpf.h"
# Windows and events belong to no protocol (http/reading.h).
PROTOCOL = re.compile(r"\b(http1_|HTTP1_|struct http1\b)|#include \"http/http1/")
WRITES = re.compile(r"\bbpf_(skb_store_bytes|skb_change_tail|skb_change_head|skb_adjust_room|"
                    r"l3_csum_replace|l4_csum_replace)\(")


def packet_files(files):
    return [name for name in files.all_names if name.startswith(FOLDER)]


def packet_stages(files):
    """The indexes of the packets' way, out and in, name every file of bpf/tc."""
    named = "".join(files.text(name).split("*/")[0] for name in INDEXES)
    for name in sorted(set(packet_files(files)) - set(INDEXES)):
        stage = name[len(FOLDER):].split(".")[0]
        if not re.search(rf"(?<![\w-]){stage}(?![\w-])", named):
            yield f"{name}: neither {' nor '.join(INDEXES)} names {stage}"


def packet_lines(files, pattern, but=()):
    """Places in bpf/tc where something stands, but in comments, as (place, what)."""
    for name in packet_files(files):
        for number, line in enumerate(files.text(name).splitlines(), 1):
            comment = line.lstrip().startswith(("/*", "*"))
            if name not in but and not comment and (found := pattern.search(line)):
                yield f"{name}:{number}", found[0]


def packet_protocols(files):
    """The packet programs know protocols by http/protocol.h alone."""
    for place, what in packet_lines(files, PROTOCOL):
        yield f"{place}: {what}; see http/protocol.h"


def packet_writes(files):
    """Helpers that change packets are called in one file."""
    for place, what in packet_lines(files, WRITES, but=(WRITER,)):
        yield f"{place}: {what}) belongs to {WRITER}"
