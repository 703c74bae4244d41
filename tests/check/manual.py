# SPDX-License-Identifier: Apache-2.0
"""Checks of the manual pages and the completion against what the programs say of themselves."""
import os
import re
import subprocess

from skip import Skip

PAGES = {"ctxprop": "man/ctxprop.8", "ctxpropd": "man/ctxpropd.8"}
# Commands with a page of their own.
COMMAND_PAGES = {"profile": "man/ctxprop-profile.8"}


def manual_format(files):
    """groff has nothing to say about the manual pages."""
    for name in files.names:
        if name.startswith("man/"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", files.path(name)],
                                  capture_output=True, text=True)
            yield from done.stderr.splitlines()


manual_format.needs = ("groff",)


def help_of(files, program, *words):
    path = files.build / program
    if not path.exists():
        raise Skip(f"{path} is not built")
    return subprocess.run([path, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def page_text(files, name):
    """A page with its escapes undone: what a reader sees."""
    text = files.text(name).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    return re.sub(r"\\f.", "", text)


def page_options(files, name, program, told, known):
    """A page against what --help tells: options that it lacks, and such that are not known."""
    options = set(re.findall(r"(?<!\w)--[a-z][a-z0-9-]+", told))
    page = set(re.findall(r"--[a-z][a-z0-9-]+", page_text(files, name)))
    for option in sorted(options - page):
        yield f"{name}: {option} is missing"
    for option in sorted(page - set(re.findall(r"(?<!\w)--[a-z][a-z0-9-]+", known))):
        yield f"{name}: {option} is no option of {program}"


def manual_options(files):
    """Every option and command that --help tells is in the manual, and no option else."""
    for program, name in PAGES.items():
        told = known = help_of(files, program)
        if program == "ctxprop":
            helps = {command: help_of(files, program, command) for command in commands(files)}
            told += "".join(text for command, text in helps.items() if command not in COMMAND_PAGES)
            known += "".join(helps.values())
        yield from page_options(files, name, program, told, known)
    for command, name in COMMAND_PAGES.items():
        told = help_of(files, "ctxprop", command)
        yield from page_options(files, name, f"ctxprop {command}", told, told)
    for command in commands(files):
        if not re.search(rf"\b{command}\b", page_text(files, PAGES["ctxprop"])):
            yield f"{PAGES['ctxprop']}: the command {command} is missing"


def commands(files):
    """The commands that `ctxprop --help` lists."""
    return re.findall(r"^  ([a-z]+) +[A-Z]", help_of(files, "ctxprop"), re.M)


# An option as --help lists it, and as it heads a paragraph of a page: letter, name, argument.
TOLD = re.compile(r"^  (?:(-\w), |    )(--[a-z0-9-]+)(?: ([^ ]+)|(\[=[^]]*\]))?(?:  .*)?$", re.M)
HEADED = re.compile(r"(?:(-\w), )?(--[a-z0-9-]+)(?: ([^ ,]+)|(\[=.*\]))?")


def takes(row):
    """Of an option that was found: (letter, name, whether it takes an argument)"""
    letter, name, argument, optional = row
    return letter or "", name, "one" if argument else "perhaps" if optional else "none"


def headings(files, name):
    """The options that head paragraphs in the section OPTIONS of a page."""
    section = page_text(files, name).split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
    for heading in re.findall(r"^\.TP\n\.B[IR]? +(.*)$", section, re.M):
        text = re.sub(r" +", " ", heading.replace('"', ""))
        found = HEADED.match(re.sub(r" (?=[,=])|(?<==) ", "", text))
        if found:
            yield takes(found.groups())


def manual_arguments(files):
    """The section OPTIONS has the options that --help lists, with the same letters, and arguments where those have some."""
    pages = [(name, (program,)) for program, name in PAGES.items()]
    pages += [(name, ("ctxprop", command)) for command, name in COMMAND_PAGES.items()]
    for name, words in pages:
        told = {takes(row) for row in TOLD.findall(help_of(files, *words))}
        page = set(headings(files, name))
        for option in sorted(told - page):
            yield f"{name}: no paragraph for {option}"
        for option in sorted(page - told):
            yield f"{name}: {option} is not what --help lists"


COMPLETE = """
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"_$1"
printf '%s\\n' "${COMPREPLY[@]}"
"""

# What is typed, the last word being the one to complete, and what has to be among the answers.
COMPLETIONS = (
    (("ctxprop", "policy", ""), {"add", "del", "replace", "restore", "save", "show", "flush"}),
    (("ctxprop", "policy", "a"), {"add"}),
    (("ctxprop", "policy", "add", ""), {"prio", "dir", "from", "to", "action", "cgroup"}),
    (("ctxprop", "policy", "add", "action", ""), {"inject", "skip", "ignore"}),
    (("ctxprop", "policy", "add", "dir", "f"), {"forward"}),
    (("ctxprop", "policy", "add", "dev", "l"), {"lo"}),
    (("ctxprop", "set", "cluster", ""), {"add", "del", "show", "flush"}),
    (("ctxprop", "-j", "pol"), {"policy"}),
    (("ctxprop", "detach", "-"), {"--force", "--help"}),
    (("ctxprop", "detach", ""), {"lo", "netns"}),
    (("ctxprop", "attach", "lo", ""), {"netns"}),
)
# What has to be the whole answer: nothing that is refused then is offered.
ONLY = (
    (("ctxprop", "policy", "add", "prio", "5", "dir", "in", "action", ""), {"accept", "ignore"}),
    (("ctxprop", "policy", "add", "dir", "out", "action", ""),
     {"inject", "observe", "restart", "strip", "skip"}),
    (("ctxprop", "policy", "add", "dir", "in", "action", "ignore", "port", "80", ""),
     {"prio", "dev", "from", "to"}),
    (("ctxprop", "policy", "add", "action", "skip", "to", "any", ""),
     {"prio", "dir", "dev", "from", "port", "cgroup", "host"}),
    (("ctxprop", "policy", "add", "action", "inject", "dir", "forward", "prio", "3", ""),
     {"dev", "from", "to", "port", "host", "sample", "root", "tracestate"}),
    (("ctxprop", "policy", "show", ""), set()),
    (("ctxprop", "stats", ""), set()),
    (("ctxprop", "attach", "lo", "netns", "x", ""), set()),
    (("ctxprop", "set", "near", "flush", ""), set()),
    (("ctxprop", "top", "--sort", ""), {"rate", "errors", "p50", "p99", "cpu"}),
    (("ctxprop", "profile", "--bucket", "p9"), {"p90", "p99"}),
    (("ctxprop", "trace", "--slow", ""), set()),
    (("ctxprop", "profile", "diff", "--last", "5m", "--bef"), {"--before"}),
    (("ctxprop", "trace", "--slow", "1s", "--e"), {"--errors", "--endpoint"}),
    (("ctxprop", "flows", "-p", "--a"), {"--all"}),
    (("ctxpropd", "--attach", ""), {"tcx", "clsact", "auto"}),
    (("ctxpropd", "--netns", ""), {"self", "all"}),
    (("ctxpropd", "--c"), {"--config", "--check"}),
    (("ctxpropd", "--otlp-"), {"--otlp-headers", "--otlp-ca"}),
    (("ctxpropd", ""), set()),
)


def completed(files, words):
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", files.path("share/ctxprop.bash"),
                           *words], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{files.build.resolve()}:{os.environ['PATH']}"})
    return set(done.stdout.split()), done.stderr.strip()


def completion(files):
    """The shell completes every command and the words of rules."""
    cases = [*COMPLETIONS, (("ctxprop", ""), set(commands(files)))]
    for command in commands(files):
        names = {name for _, name, _ in map(takes, TOLD.findall(help_of(files, "ctxprop", command)))}
        cases.append((("ctxprop", command, "-"), names))
    for words, wanted in cases:
        got, error = completed(files, words)
        if error or not wanted <= got:
            yield f"share/ctxprop.bash: {' '.join(words)}: got {sorted(got)} {error}"
    for words, wanted in ONLY:
        got, error = completed(files, words)
        if error or got != wanted:
            yield (f"share/ctxprop.bash: {' '.join(words)}: got {sorted(got)} instead of "
                   f"{sorted(wanted)} {error}")


completion.needs = ("bash",)


def unit(files):
    """systemd has nothing to say about the unit."""
    path = files.build / "ctxpropd.service"
    if not path.exists():
        raise Skip(f"{path} is not built")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True,
                          text=True)
    for line in done.stderr.splitlines():
        # The program is not installed on the machine that tests.
        if "ctxpropd" in line and "is not executable" not in line:
            yield line


unit.needs = ("systemd-analyze",)
