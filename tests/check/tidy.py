# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over user space and over the BPF programs. Each check yields one line per finding."""
import json
import os
import re
import subprocess

import clang
from skip import Skip

FILE_SECONDS = 60
# Others have other checks.
FIRST, LAST = 14, 14
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# Where an #include is looked for, beside the file's own folder.
INCLUDE_PATHS = ("agent", "bpf", "http", "")


def compiled(files, database, folders):
    """The files in some folders that a compilation database has, each once."""
    path = files.build / database
    if not path.exists():
        raise Skip(f"{path} is not there: cmake --preset release makes it")
    with open(path, encoding="utf-8") as commands:
        paths = {os.path.relpath(entry["file"], files.path("")) for entry in json.load(commands)}
    return sorted(name for name in paths & set(files.all_names) if name.startswith(folders))


def included(files, name):
    """The files of the repository that a file includes."""
    known = set(files.all_names)
    for target in INCLUDE.findall(files.text(name)):
        for folder in (os.path.dirname(name), *INCLUDE_PATHS):
            path = os.path.normpath(os.path.join(folder, target))
            if path in known:
                yield path
                break


def with_users(files, sources):
    """Of `sources` those that have changed, and for each changed header the nearest that has it."""
    wanted, changed = set(sources), set(files.changed)
    users = {}
    for name in files.all_names:
        if name.endswith((".c", ".h")):
            for header in included(files, name):
                users.setdefault(header, []).append(name)
    chosen = wanted & changed
    for header in (name for name in changed if name.endswith(".h")):
        near, seen = [header], {header}
        while near and not wanted & set(near):
            near = [user for name in near for user in users.get(name, ()) if user not in seen]
            seen.update(near)
        # One that is looked at anyway, or else any.
        chosen |= set(sorted(wanted & set(near), key=lambda name: name not in chosen)[:1])
    return sorted(chosen)


def not_asked(files):
    """What bpf/.clang-tidy takes from the checks: BPF programs stand in other folders, too."""
    text = files.text("bpf/.clang-tidy")
    return re.sub(r"\s", "", re.search(r"^Checks: >\n((?:  .*\n)+)", text, re.M)[1])


def tidy_one(program, files, database, name):
    folder = (files.build / database).parent
    more = [f"--checks={not_asked(files)}"] if name.endswith(".bpf.c") else []
    try:
        done = subprocess.run([program, "--quiet", "-p", folder, *more, name], text=True,
                              capture_output=True, timeout=FILE_SECONDS)
    except subprocess.TimeoutExpired:
        return [f"{name}: clang-tidy takes more than {FILE_SECONDS} s"]
    found = [line for line in done.stdout.splitlines() if re.search(r": (error|warning): ", line)]
    if done.returncode and not found:
        return [f"{name}: clang-tidy: {line}" for line in done.stderr.splitlines()[:5]]
    generated = str(files.build.resolve())  # not our code: the BPF skeleton
    return [line for line in found if not line.startswith(generated)]


def look(files, database, folders):
    """Findings in all files of a database, or in those that have changed, each once."""
    program = clang.tool("clang-tidy", FIRST, LAST)
    names = compiled(files, database, folders)
    if not names:
        yield f"{files.build / database}: no file of this repository is built there"
    if files.changed is not None:
        names = with_users(files, names)
    found = clang.side_by_side(lambda name: tidy_one(program, files, database, name), names)
    # A header is complained about once for every file that includes it.
    yield from sorted({line for lines in found for line in lines})


def tidy(files):
    """clang-tidy has nothing to say about agent/, http/ and runtimes/."""
    yield from look(files, "compile_commands.json", ("agent/", "http/", "runtimes/"))


def tidy_bpf(files):
    """clang-tidy has nothing to say about the BPF programs."""
    yield from look(files, "bpf/compile_commands.json", ("bpf/", "runtimes/"))
