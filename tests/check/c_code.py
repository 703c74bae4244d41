# SPDX-License-Identifier: Apache-2.0
"""Checks of the form of C files. Each yields one line per wrong place."""
import os
import re
import subprocess

import clang

# From and to which clang-format the files are the same: outside, lines may be broken elsewhere.
FORMAT_FIRST, FORMAT_LAST = 14, 19
PLACE = re.compile(r"^(.+?):(\d+):\d+: error: ", re.M)


def misplaced(program, names):
    """{name: [line...]} of what clang-format would change in some files."""
    found = {}
    if names:
        done = subprocess.run([program, "--dry-run", "-Werror", *names], capture_output=True,
                              text=True)
        for name, line in PLACE.findall(done.stderr):
            found.setdefault(name, []).append(line)
        if done.returncode and not found:
            found[names[0]] = [f"?, {program} says: {done.stderr.strip()[:200]}"]
    return found


def formatted(files):
    """clang-format would change nothing."""
    program = clang.tool("clang-format", FORMAT_FIRST, FORMAT_LAST)
    names, count = files.of(".c", ".h"), os.cpu_count()
    parts = [names[i::count] for i in range(count)]
    for part in clang.side_by_side(lambda some: misplaced(program, some), parts):
        for name, lines in part.items():
            yield f"{name}: line {', '.join(lines[:8])}; {program} -i {name}"
