# SPDX-License-Identifier: Apache-2.0
"""Checks of C files. Each yields one line per wrong place."""
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from skip import Skip

FILE_SECONDS = 60
# Other versions of clang-format see some lines otherwise, others of clang-tidy have other checks.
CLANG_MAJOR = 14
PRODUCT = ("agent/", "http/", "runtimes/")


def need_version(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if f"version {CLANG_MAJOR}." not in said:
        raise Skip(f"wants {program} {CLANG_MAJOR}, here is: {' '.join(said.split())}")


def formatted(files):
    """clang-format would change nothing."""
    need_version("clang-format")
    for name in files.of(".c", ".h"):
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", name], capture_output=True,
                              text=True)
        places = re.findall(r":(\d+):\d+: error: ", done.stderr)
        if places:
            yield f"{name}: line {', '.join(places[:8])}; clang-format -i {name}"


formatted.needs = ("clang-format",)


def compiled(files):
    """Files of the product that the build compiles natively, each once."""
    with open(files.build / "compile_commands.json", encoding="utf-8") as commands:
        paths = {os.path.relpath(entry["file"], files.path("")) for entry in json.load(commands)}
    return sorted(name for name in paths & set(files.names) if name.startswith(PRODUCT))


def tidy_one(files, name):
    try:
        done = subprocess.run(["clang-tidy", "--quiet", "-p", files.build, name], text=True,
                              capture_output=True, timeout=FILE_SECONDS)
    except subprocess.TimeoutExpired:
        return [f"{name}: clang-tidy takes more than {FILE_SECONDS} s"]
    found = [line for line in done.stdout.splitlines() if re.search(r": (error|warning): ", line)]
    if done.returncode and not found:
        return [f"{name}: clang-tidy: {line}" for line in done.stderr.splitlines()[:5]]
    generated = str(files.build.resolve())  # not our code: the BPF skeleton
    return [line for line in found if not line.startswith(generated)]


def tidy(files):
    """clang-tidy has nothing to say about agent/, http/ and runtimes/."""
    need_version("clang-tidy")
    names = compiled(files)
    if not names:
        yield f"{files.build}/compile_commands.json: none of this repository's files are built there"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda name: tidy_one(files, name), names)
        # A header is complained about once for every file that includes it.
        yield from sorted({line for lines in found for line in lines})


tidy.needs = ("clang-tidy",)
tidy.slow = True
