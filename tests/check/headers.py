# SPDX-License-Identifier: Apache-2.0
"""Which header may stand where. Each check yields one line per wrong place."""
import re

from tidy import included

# What is compiled for the kernel out of a runtime's folder.
KERNEL = re.compile(r"^runtimes/(\w+)/[^/]+\.bpf\.[ch]$")
MAP_CALL = re.compile(r"\bbpf_map_(?:lookup|update|delete)_elem\(&(\w+)")
MAP = r"^}} {} (?:__weak )?SEC\(\"\.maps\"\);"


def with_headers(files, name):
    """The file itself, and all that it includes, directly or not."""
    seen, left = {name}, [name]
    while left:
        new = set(included(files, left.pop())) - seen
        seen |= new
        left += new
    return seen


def uprobes(files):
    """The uprobes of a runtime have no kernel code of another one."""
    for name in files.of(".bpf.c"):
        own = KERNEL.match(name)
        if not own:
            continue
        for header in sorted(with_headers(files, name)):
            found = KERNEL.match(header)
            if found and found[1] != own[1]:
                yield f"{name}: has {header}; see runtimes/README.md"


def probes_and_runtimes(files):
    """The engine and the probes of the kernel's events know runtimes by their hooks only."""
    for name in files.of(".bpf.c", ".bpf.h"):
        if not name.startswith(("bpf/probes/", "bpf/engine/")):
            continue
        for header in included(files, name):
            if KERNEL.match(header):
                yield f"{name}: includes {header}; see runtimes/README.md"


def maps(files):
    """Maps of runtimes and probes are read and written beside their declaration: by functions that others call."""
    for name in files.of(".bpf.c", ".bpf.h"):
        if not name.startswith(("bpf/probes/", "runtimes/")):
            continue
        text = files.text(name)
        for number, line in enumerate(text.splitlines(), 1):
            for called in MAP_CALL.findall(line):
                if not re.search(MAP.format(called), text, re.M):
                    yield f"{name}:{number}: map {called} is not declared here"
