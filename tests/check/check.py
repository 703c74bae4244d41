#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Style as a test: check.py [--build DIR] [NAME...]

Looks at the files that git knows. Prints one line per check: "ok", "not ok" with the places, or
"ok # SKIP reason". A clang-tidy run over all of user space takes a minute or two; outside of CI
(CI=true) it takes place only when asked for by name.
"""
import argparse
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import c_code
import manifests
import manual
import scripts
import texts
from skip import Skip

REPO = Path(__file__).resolve().parents[2]
CHECKS = (texts.spdx, texts.licences, texts.machine_paths, texts.whitespace, texts.reasons,
          texts.runtimes,
          scripts.shell, scripts.shellcheck, scripts.python, scripts.python_imports, scripts.python_unused,
          manual.manual_format, manual.manual_options, manual.completion, manual.unit,
          manifests.manifests, manifests.uninstall, manifests.policies,
          c_code.formatted, c_code.tidy)


class Files:
    """The repository's files, by git; contents are those of the working tree."""

    def __init__(self, build):
        self.build = Path(build)
        listed = subprocess.run(["git", "-c", f"safe.directory={REPO}", "ls-files", "-z"],
                                cwd=REPO, capture_output=True, text=True, check=True).stdout
        self.names = [name for name in listed.split("\0") if name and (REPO / name).is_file()]

    def path(self, name):
        return REPO / name

    @functools.cache
    def text(self, name):
        return (REPO / name).read_text(encoding="utf-8")

    def of(self, *suffixes):
        """Names that end so, or whose first line names such an interpreter."""
        return [name for name in self.names if name.endswith(suffixes) or
                ("." not in os.path.basename(name) and self.interpreter(name).endswith(suffixes))]

    def interpreter(self, name):
        """ ".sh", ".py" or "" by the first line of a file without a suffix."""
        first = self.text(name).split("\n", 1)[0]
        if not first.startswith("#!"):
            return ""
        return ".py" if "python" in first else ".sh"


def verdict(check, files):
    """(word, what to print behind the name)"""
    for program in getattr(check, "needs", ()):
        if not shutil.which(program):
            return "skip", f"{program} is not installed"
    try:
        wrong = list(check(files))
    except Skip as skip:
        return "skip", str(skip)
    return ("not ok", "\n".join(wrong)) if wrong else ("ok", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=REPO / "build", help="for compile_commands.json")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=", ".join(check.__name__ for check in CHECKS))
    args = parser.parse_args()
    os.chdir(REPO)
    files, count = Files(args.build), {"ok": 0, "not ok": 0, "skip": 0}
    for check in CHECKS:
        name = check.__name__
        if args.names and name not in args.names:
            continue
        if getattr(check, "slow", False) and not (args.names or os.environ.get("CI")):
            word, said = "skip", f"slow; check.py {name} or CI=true runs it"
        else:
            word, said = verdict(check, files)
        count[word] += 1
        title = check.__doc__.splitlines()[0].rstrip(".")
        print(f"{'ok' if word == 'skip' else word} {sum(count.values())} - {name}: {title}" +
              (f" # SKIP {said}" if word == "skip" else ""))
        if word == "not ok":
            print("".join(f"# {line}\n" for line in said.splitlines()), end="")
    print(f"{count['ok']} passed, {count['not ok']} failed, {count['skip']} skipped")
    return int(count["not ok"] > 0)


if __name__ == "__main__":
    sys.exit(main())
