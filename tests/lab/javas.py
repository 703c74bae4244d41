# SPDX-License-Identifier: Apache-2.0
"""Which Java the host has."""
import glob
import re
from pathlib import Path


def java_21():
    """A Java that has virtual threads; its path, or "" where there is none."""
    for release in sorted(glob.glob("/usr/lib/jvm/*/release")):
        found = re.search(r'^JAVA_VERSION="(\d+)', Path(release).read_text(encoding="utf-8"), re.M)
        if found and int(found[1]) >= 21:
            return str(Path(release).parent / "bin/java")
    return ""
