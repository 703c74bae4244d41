# SPDX-License-Identifier: Apache-2.0
"""What a daemon has pinned for a host: folders, ids, and the switch of a layer."""
import json
import os
import pathlib
import re
import subprocess

import bpf_map
import hooks

BPFFS = pathlib.Path("/sys/fs/bpf/ctxprop")
ABI_HEADER = pathlib.Path(__file__).parents[2] / "bpf/abi.h"


def pins(host):
    return BPFFS / f"{hooks.cookie(host):x}"


def abi_version():
    return int(re.search(r"#define CTXPROP_ABI_VERSION (\d+)", ABI_HEADER.read_text())[1])


def layer(host):
    return pins(host) / f"v{abi_version()}"


def node_layer():
    return BPFFS / "node" / f"v{abi_version()}"


def object_id(kind, path):
    """Id of a pinned map, program or link. By bpf(2): not every bpftool opens pins of all kinds."""
    fd = bpf_map.open_pin(path)
    try:
        shown = pathlib.Path(f"/proc/self/fdinfo/{fd}").read_text()
    finally:
        os.close(fd)
    return int(re.search(rf"^{kind}_id:\s*(\d+)$", shown, re.MULTILINE)[1])


def map_ids(host):
    return {path.name: object_id("map", path) for path in (layer(host) / "maps").iterdir()}


def link_ids(host):
    return {path.name: object_id("link", path) for path in (layer(host) / "links").iterdir()}


def paused(directory):
    """The switch in a layer's control map."""
    shown = subprocess.run(["bpftool", "-j", "map", "dump", "pinned", directory / "maps/control"],
                           capture_output=True, text=True, check=True).stdout
    return json.loads(shown)[0]["formatted"]["value"]["paused"]
