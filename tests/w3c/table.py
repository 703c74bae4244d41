# SPDX-License-Identifier: Apache-2.0
"""Reads cases.txt: what comes in, what has to go out."""
import re
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).with_name("cases.txt")
ESCAPES = {"\\t": "\t", "\\s": " ", "\\\\": "\\"}


@dataclass
class Case:
    """One case; texts are those of the table with their escapes resolved."""
    name: str
    title: str
    fields: list = field(default_factory=list)  # lines of the incoming head
    kept: bool = None
    flags: str = None
    states: list = None  # each a list of members that may go out; [] is no tracestate

    def parents(self):
        """(trace id, parent id) of every traceparent that comes in and reads like one."""
        shape = re.compile(r"traceparent:\s*..-([^-]{32})-([^-]{16})", re.I)
        return [found.groups() for line in self.fields if (found := shape.match(line))]


def resolve(text):
    text = re.sub(r"\\[ts\\]", lambda found: ESCAPES[found[0]], text)
    return re.sub(r"\{(.)\*(\d+)\}", lambda found: found[1] * int(found[2]), text)


def members(text):
    """The members of a tracestate. Blanks before a member and behind it do not count."""
    return [member.strip(" \t") for member in text.split(",") if member.strip(" \t")]


def add(case, line):
    """Put one line of the table into its case."""
    word, _, rest = line.partition(" ")
    if word == ">":
        case.fields.append(resolve(rest))
    elif word == "trace" and rest in ("kept", "new"):
        case.kept = rest == "kept"
    elif word == "flags":
        case.flags = rest
    elif word == "state":
        case.states = [[] if text == "none" else members(resolve(text))
                       for text in rest.split(" or ")]
    else:
        raise ValueError(f"cases.txt: what is {line!r}?")


def read(path=TABLE):
    """All cases in their order."""
    cases = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("= "):
            name, _, title = line[2:].partition(": ")
            cases.append(Case(name, title))
        elif line and not line.startswith("#"):
            add(cases[-1], line)
    names = [case.name for case in cases]
    if len(set(names)) != len(names) or any(case.kept is None for case in cases):
        raise ValueError("cases.txt: a name stands twice, or a case has no line 'trace'")
    return cases
