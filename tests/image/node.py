# SPDX-License-Identifier: Apache-2.0
"""A node of a cluster: a network namespace with processes and a BPF file system of its own."""
import shutil
import subprocess
import tempfile
from pathlib import Path

from waiting import wait_until

# Cgroups are where a cluster's nodes have them, and a runtime wants them.
FIRST = """{ [ $$ != 1 ] || mount -t proc proc /proc; } && mount -t bpf none /sys/fs/bpf && mount -t cgroup2 none /sys/fs/cgroup || exit
touch "$0/started"
while sleep 1; do :; done"""


class Node:
    """Nobody else's processes are seen there, so that only pods of the lab are found. With the pids of
    this machine calls are followed, as the probes see those."""

    def __init__(self, host, own_pids=True):
        self.host = host
        self.folder = Path(tempfile.mkdtemp(prefix="ctxprop-node-"))
        host.lab.at_close(shutil.rmtree, self.folder, True)
        pids = ["--pid", "--fork", "--kill-child"] if own_pids else []
        outer = host.spawn(["unshare", "--mount", *pids, "sh", "-c", FIRST, self.folder])
        wait_until((self.folder / "started").exists, "the node does not start")
        self.first = int(Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text()) if own_pids else outer.pid

    def argv(self, argv, net=None):
        """The command on this node, or in the network namespace of another host."""
        network = f"--net=/run/netns/{net.netns}" if net else "--net"
        return ["nsenter", f"--target={self.first}", "--pid", "--mount", network, *argv]

    def run(self, *argv):
        return subprocess.run(self.argv(argv), check=True, capture_output=True, text=True, timeout=60).stdout

    def pod(self, host):
        """A process of the node that has the network of this host."""
        self.host.lab.processes.append(subprocess.Popen(self.argv(["sleep", "1000"], host), start_new_session=True))

    def path(self, path):
        """Where a path of the node is: what daemons write is in a folder of the test."""
        if Path(path).is_relative_to("/sys"):
            return path
        own = self.folder / path.lstrip("/")
        own.mkdir(parents=True, exist_ok=True)
        return own
