#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What each rule of the engine is for, by the simulation: its cases are run without that rule.

Writes the tables of docs/engine.md. A step is a case of the context_*_test programs; a program is
one that context_programs_test simulates. "right" and "wrong" are calls of all these programs.
Habits, evidence and vetoes come from bpf/engine/rules.h and model.h (by build/engine_rules).
"""
import argparse
import concurrent.futures
import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
PAGE = REPO / "docs/engine.md"
STEPS = ("call_limit", "engine", "later", "loops", "named", "objects", "paths", "queue", "shared",
         "shares", "threads")
PROGRAMS = "programs"
SEEDS = 2  # processes of each kind in the long runs; the test itself has 8
NAMED = 3  # cases that are named in a cell
KINDS = {"habit": ("Habits", "What a process must have shown. Without it: every process is believed to have it "
                   "from the beginning."),
         "evidence": ("Evidence", "What names a request, the strongest first. Without it: nothing is named by it."),
         "veto": ("Vetoes", "What is held against it. Without it: the request is believed all the same.")}


@dataclasses.dataclass(frozen=True)
class Rule:
    kind: str
    name: str
    least: int
    ratio: int
    text: str

    def believed(self):
        """When a habit is believed, in words."""
        if not self.least:
            return "until it is broken"
        often = f"kept {self.least} times"
        return f"{often}, {self.ratio} more for each time that it is broken" if self.ratio else often


@dataclasses.dataclass
class Outcome:
    """Of all cases without one rule."""
    steps: set
    programs: set
    calls: int = 0
    right: float = 0
    wrong: int = 0


def read_rules(build):
    done = subprocess.run([build / "engine_rules"], capture_output=True, text=True, check=True)
    return [Rule(kind, name, int(least), int(ratio), text)
            for kind, name, least, ratio, text in
            (line.split("\t") for line in done.stdout.splitlines())]


def run_test(build, test, without, seeds):
    """(failed cases, what was printed); a test that ends by a signal has failed as a whole."""
    done = subprocess.run([build / f"context_{test}_test"], capture_output=True, text=True, check=False,
                          env={**os.environ, "CTXPROP_WITHOUT": without, "CTXPROP_SEEDS": str(seeds)})
    said = done.stdout + done.stderr
    failed = set(re.findall(r"^\[  FAILED  \] (?!\d+ test)(?:\w+: )?(.+)$", said, re.M))
    if done.returncode and not failed:
        failed = {f"context_{test}_test as a whole"}
    return failed, said


def run_all(build, without, seeds):
    """Outcome of all cases without a rule ("": with all of them)."""
    outcome = Outcome(set(), set())
    for test in STEPS:
        outcome.steps |= run_test(build, test, without, seeds)[0]
    outcome.programs, said = run_test(build, PROGRAMS, without, seeds)
    for right, wrong, calls, own, cold in re.findall(
            r"right +([\d.]+) %.*wrong (\d+) of (\d+); own \d+, wrong (\d+); new processes: wrong (\d+)", said):
        outcome.calls += int(calls)
        outcome.right += float(right) * int(calls) / 100
        outcome.wrong += int(wrong) + int(own) + int(cold)
    return outcome


def few(names):
    """How many, and which."""
    listed = sorted(names)
    more = ", ..." if len(listed) > NAMED else ""
    return f"{len(listed)}: {', '.join(listed[:NAMED])}{more}" if listed else "0"


def numbers(outcome):
    return [few(outcome.steps), str(len(outcome.programs)), f"{100 * outcome.right / outcome.calls:.1f}",
            str(outcome.wrong)]


def table(kind, rules, outcomes):
    """Lines of one of the three tables; without outcomes only the columns that need no run."""
    habit = kind == "habit"
    head = [kind, *(["believed"] if habit else []), "what it says", "steps", "programs", "right %", "wrong"]
    lines = [head, ["---"] * len(head)]
    for rule in (rule for rule in rules if rule.kind == kind):
        words = [f"`{rule.name}`", *([rule.believed()] if habit else []), rule.text]
        lines.append(words + (numbers(outcomes[rule.name]) if outcomes else []))
    return lines


def section(kind, rules, outcomes):
    title, said = KINDS[kind]
    return "\n".join([f"## {title}", said, "",
                      *[f"| {' | '.join(line)} |" for line in table(kind, rules, outcomes)]])


def page(text, generated):
    begin, end = "<!-- rules.py begins -->\n", "<!-- rules.py ends -->"
    before, rest = text.split(begin)
    return before + begin + generated + "\n" + end + rest.split(end)[1]


def unneeded(rules, outcomes):
    """Names of rules that no case needs."""
    return [rule.name for rule in rules
            if not outcomes[rule.name].steps and not outcomes[rule.name].programs]


def generated(rules, outcomes, seeds):
    every = outcomes[""]
    sections = "\n\n".join(section(kind, rules, outcomes) for kind in KINDS)
    return (f"With all rules {100 * every.right / every.calls:.1f} % of {every.calls:,} simulated calls are right, "
            f"{every.wrong} wrong ({seeds} processes of each kind; "
            f"`./run rules`). The columns say the same without the rule: steps and programs are the cases that fail "
            f"only then.\n\n{sections}\n\nNo case of the simulation needs: "
            f"{', '.join(f'`{name}`' for name in unneeded(rules, outcomes)) or 'none'}.")


def measure(build, rules, seeds, jobs):
    """{name: Outcome}, "" being all rules."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {name: pool.submit(run_all, build, name, seeds) for name in ["", *[r.name for r in rules]]}
        outcomes = {}
        for name, done in runs.items():
            outcomes[name] = done.result()
            if name:  # with few processes a bar may be missed by chance
                outcomes[name].programs -= outcomes[""].programs
            print(f"{name or 'all rules':20} {'  '.join(numbers(outcomes[name]))}", flush=True)
    return outcomes


def check_headings(lines, rules):
    """Does the page tell how each habit is learnt, in the order of the table?"""
    told = [line[4:] for line in lines if line.startswith("### ")]
    habits = [rule.name for rule in rules if rule.kind == "habit"]
    if told != habits:
        print(f"docs/engine.md has a heading for {', '.join(told)}; the habits are {', '.join(habits)}")
    return told == habits


def check_needed(rows):
    """Has each rule a case that fails without it?"""
    idle = [row[0] for row in rows if row[-4:-2] == ["0", "0"]]
    for name in idle:
        print(f"docs/engine.md: no case of the simulation needs {name}: write one, or delete the rule")
    return not idle


def check(rules):
    """Does the page have what is said of each rule, in three tables, and no other one?"""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [row for row in (line.strip("| ").split(" | ") for line in lines if line.startswith("| `")) if len(row) > 4]
    said = [row[:3] if row[1].startswith(("kept", "until")) else row[:2] for row in rows]
    wanted = [line for kind in KINDS for line in table(kind, rules, None)[2:]]
    for line in wanted:
        if line not in said:
            print(f"docs/engine.md does not say this of {line[0]}: {' | '.join(line[1:])}; ./run rules writes it")
    for line in said:
        if line not in wanted:
            print(f"docs/engine.md has {line[0]}, with words that bpf/engine does not have")
    return int(not (check_headings(lines, rules) and check_needed(rows) and said == wanted))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=REPO / "build")
    parser.add_argument("--check", action="store_true", help="only: does the page have the rules as they are?")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"processes of each kind, up to 8 ({SEEDS})")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time (one for each CPU)")
    parser.add_argument("--without", action="append", metavar="RULE", help="print the cases that fail without this "
                        "rule, and write nothing")
    args = parser.parse_args()
    rules = read_rules(args.build.resolve())
    if args.check:
        return check(rules)
    chosen = [rule for rule in rules if not args.without or rule.name in args.without]
    if len(chosen) < len(args.without or []):
        parser.error(f"--without: the rules are {', '.join(rule.name for rule in rules)}")
    outcomes = measure(args.build.resolve(), chosen, args.seeds, args.jobs)
    if outcomes[""].steps or outcomes[""].wrong:
        sys.exit(f"with all rules these fail: {', '.join(outcomes[''].steps)}; wrong: {outcomes[''].wrong}")
    if args.without:
        for rule in chosen:
            print("\n".join([f"without {rule.name}:", *sorted(outcomes[rule.name].steps | outcomes[rule.name].programs)]))
        return 0
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), generated(rules, outcomes, args.seeds)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
