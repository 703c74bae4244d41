#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Style as a test: check.py [--build DIR] [--all | --staged] [NAME...]

Looks at the files that git knows, as they are in the working tree. Prints one line per check: "ok",
"not ok" with the places, or "ok # SKIP reason". clang-tidy takes seconds for each file: it looks at
what differs from the branch main, in CI (CI=true) and with --all at everything.
"""
import argparse
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import c_code
import foreign
import headers
import manifests
import manual
import packets
import scripts
import texts
import tidy
from skip import Skip

REPO = Path(__file__).resolve().parents[2]
# What looks at each file by itself, and is quick.
ALONE = (texts.spdx, texts.licences, texts.machine_paths, texts.whitespace,
         scripts.shell, scripts.shellcheck, scripts.python, scripts.python_imports,
         scripts.python_unused, c_code.formatted)
CHECKS = (*ALONE, texts.runtimes, texts.reasons, texts.log_ids, texts.node_maps, texts.foreign_texts, texts.links,
          packets.packet_stages, packets.packet_protocols, packets.packet_writes,
          foreign.readers, foreign.compiled, foreign.readers_known, foreign.sleeping,
          headers.uprobes, headers.probes_and_runtimes, headers.maps,
          manual.manual_format, manual.manual_options, manual.manual_arguments, manual.completion, manual.unit,
          manifests.manifests, manifests.monitoring, manifests.uninstall, manifests.policies, tidy.tidy, tidy.tidy_bpf)
# What others may have called the branch that changes are made for.
MAIN = ("main", "origin/main", "HEAD")


def git(*words):
    """The lines, or the names that end with 0, that git prints."""
    said = subprocess.run(["git", "-c", f"safe.directory={REPO}", *words], cwd=REPO,
                          capture_output=True, text=True, check=True).stdout
    return [name for name in said.split("\0" if "-z" in words else "\n") if name]


def differing():
    """Of the files that git knows, those that differ from main: in commits or the working tree."""
    known = git("for-each-ref", "--format=%(refname:short)")
    base = next(name for name in MAIN if name in known or name == "HEAD")
    since = git("merge-base", base, "HEAD")[0]
    return git("diff", "--name-only", "-z", since)


PICTURES = (".png",)


class Files:
    """The repository's files but pictures, by git; contents are those of the working tree."""

    def __init__(self, build, everything=False, staged=False):
        self.build = Path(build)
        self.all_names = [name for name in git("ls-files", "-z")
                          if (REPO / name).is_file() and not name.endswith(PICTURES)]
        self.names, self.changed = self.all_names, None  # changed: None stands for all
        if staged:
            touched = set(git("diff", "--cached", "--name-only", "-z"))
            self.names = [name for name in self.all_names if name in touched]
        elif not everything:
            self.changed = differing()

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


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=REPO / "build", help="for compile_commands.json")
    some = parser.add_mutually_exclusive_group()
    some.add_argument("--all", action="store_true", default=bool(os.environ.get("CI")),
                      help="clang-tidy looks at all files, which takes minutes")
    some.add_argument("--staged", action="store_true",
                      help="only at files that are to be committed, and what is quick")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=", ".join(check.__name__ for check in CHECKS))
    args = parser.parse_args()
    known = {check.__name__ for check in CHECKS}
    for name in args.names:
        if name not in known:
            parser.error(f"no check {name}; there are {', '.join(sorted(known))}")
    return args


def chosen(args):
    """The checks to make."""
    return [check for check in (ALONE if args.staged else CHECKS)
            if not args.names or check.__name__ in args.names]


def main():
    args = parse()
    os.chdir(REPO)
    files, count = Files(args.build, args.all, args.staged), {"ok": 0, "not ok": 0, "skip": 0}
    for check in chosen(args):
        word, said = verdict(check, files)
        count[word] += 1
        title = check.__doc__.splitlines()[0].rstrip(".")
        print(f"{'ok' if word == 'skip' else word} {sum(count.values())} - {check.__name__}: {title}" +
              (f" # SKIP {said}" if word == "skip" else ""), flush=True)
        if word == "not ok":
            print("".join(f"# {line}\n" for line in said.splitlines()), end="")
    print(f"{count['ok']} passed, {count['not ok']} failed, {count['skip']} skipped")
    return int(count["not ok"] > 0)


if __name__ == "__main__":
    sys.exit(main())
