# SPDX-License-Identifier: Apache-2.0
"""Finds clang's tools, of a version that is known to judge as the others do."""
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from skip import Skip


def major_of(program):
    """The major version that a tool says it has; None: it says nothing of the kind."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)\.", said)
    return int(found[1]) if found else None


def tool(name, first, last):
    """A tool of a version from `first` to `last`: that without a number in its name, or one with."""
    others = []
    for program in (name, *(f"{name}-{major}" for major in range(first, last + 1))):
        if not shutil.which(program):
            continue
        major = major_of(program)
        if major and first <= major <= last:
            return program
        others.append(f"{program} is {major or 'of no known version'}")
    wanted = f"{name} {first}" + (f" to {last}" if last > first else "")
    raise Skip(f"wants {wanted}, here: {', '.join(others) or 'none'}")


def side_by_side(work, items):
    """What work(item) returns for each of the items, in their order; one thread for each CPU."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))
