# SPDX-License-Identifier: Apache-2.0
"""Directories of pins that somebody else has made: neither the daemon nor the command uses them."""
import re
import subprocess
from pathlib import Path

import cases
from cases import case, equal
from following import netns_of
from lab import Lab
from policy_command import NOBODY
from waiting import wait_until

ROOT = "/sys/fs/bpf/ctxprop"
AS_NOBODY = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"

# What was done before, and what is said then.
FOREIGN = (
    ("{nobody} mkdir {root}", "{root} is user {user}'s"),
    ("{nobody} mkdir {root}; chmod 0777 {root}", "{root} is user {user}'s"),
    ("mkdir -m 0777 {root}", "{root} can be written by others than root (mode 0777)"),
    ("mkdir -m 0770 {root}; chgrp {user} {root}", "{root} can be written by others"),
    ("mkdir /sys/fs/bpf/x; ln -s /sys/fs/bpf/x {root}", "{root} is not a directory"),
    ("mkdir -m 0755 {root}; mkdir {own}; chown {user} {own}", "{own} is user {user}'s"),
    ("mkdir -m 0755 {root}; mkdir /sys/fs/bpf/x; ln -s /sys/fs/bpf/x {own}", "{own} is not a directory"),
    ("mkdir -p {own}; mkdir -m 0777 {layer}", "{layer} can be written by others"),
    ("chmod 0777 /sys/fs/bpf", "/sys/fs/bpf can be written by others"),
)


def names_of(host):
    own = f"{ROOT}/{netns_of(host):x}"
    header = Path(__file__).parents[2] / "bpf/abi.h"
    version = re.search(r"#define CTXPROP_ABI_VERSION (\d+)", header.read_text())[1]
    return {"root": ROOT, "own": own, "layer": f"{own}/v{version}", "nobody": AS_NOBODY,
            "user": NOBODY}


def on_own_bpffs(script):
    """A shell command that runs on a BPF file system of its own, where everybody may make files."""
    return ["unshare", "--mount", "sh", "-ec",
            f"umask 077; mount -t bpf -o mode=1777 bpf /sys/fs/bpf; {script}"]


@case(slow=True)
def made_by_others():
    """Not root's, writable for others, or a link: refused, and it is said what is wrong."""
    with Lab("pins") as lab:
        host = lab.host("app")
        names = names_of(host)
        for before, wanted in FOREIGN:
            for program in ("ctxpropd", "ctxprop stats"):
                ended = host.run(on_own_bpffs(f"{before.format(**names)}; "
                                              f"exec {cases.BUILD}/{program}"),
                                 check=False, timeout=30)
                equal(ended.returncode, 1, f"{program} after {before}: {ended.stderr}")
                equal(wanted.format(**names) in ended.stderr, True, f"{program}: {ended.stderr}")


@case(slow=True)
def made_by_root():
    """A BPF file system where everybody may make files will do, as long as ours are made by root."""
    with Lab("pins") as lab:
        host = lab.host("app")
        own = host.spawn(on_own_bpffs(f"mkdir {ROOT}; {AS_NOBODY} mkdir /sys/fs/bpf/x; "
                                      f"exec {cases.BUILD}/ctxpropd --config none --store none --http none"),
                         stderr=subprocess.PIPE, text=True)
        wait_until(lambda: " ready: " in own.stderr.readline(), "it is ready")
        own.terminate()
        own.wait(timeout=15)
