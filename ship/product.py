# SPDX-License-Identifier: Apache-2.0
"""What a folder that CMake has configured says about the product."""
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
VARIABLE = re.compile(r"^([^#/:]+):[^=]+=(.*)$", re.M)
# Variables with the path of what is compiled in, whichever of them there are.
COMPILED_IN = ("LLHTTP_SOURCE",)


def revision():
    """The commit, with "-dirty" behind it if the files differ; "" without git."""
    done = subprocess.run(["git", "-c", f"safe.directory={REPO}", "-C", REPO, "describe", "--always", "--dirty", "--exclude=*",
                           "--abbrev=40"], capture_output=True, text=True)
    return done.stdout.strip()


def architecture():
    """The processor, as Debian and OCI call it."""
    return subprocess.run(["dpkg", "--print-architecture"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def iso(epoch):
    """Seconds since 1970 as ISO 8601."""
    return datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def programs(installed):
    """{path: file} of the programs in the folder (DESTDIR) of an installation below /usr."""
    return {f"/usr/sbin/{name}": installed / "usr/sbin" / name for name in ("ctxprop", "ctxpropd")}


class Build:
    """A build: its version, and what CMake has found for it."""

    def __init__(self, folder):
        variables = dict(VARIABLE.findall((Path(folder) / "CMakeCache.txt").read_text(encoding="utf-8")))
        self.version = variables.get("CTXPROP_VERSION") or variables["CMAKE_PROJECT_VERSION"]
        self.description = variables["CMAKE_PROJECT_DESCRIPTION"]
        self.homepage = variables["CMAKE_PROJECT_HOMEPAGE_URL"]
        found = (variables.get(name, "") for name in COMPILED_IN)
        self.compiled_in = [path for path in found if path.startswith("/")]
