#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Do samples show the function that a program is known to be in? For each kind of code.

Prints the table of docs/profile.md, which `samples.py --write` puts there; exit 1 if a bar is missed.

    stacks.py [--build DIR] [--self-test] [ROW...]
"""
import argparse
import os
import re
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
sys.path.insert(0, str(HERE.parent / "bench"))
sys.path.append(str(HERE.parent / "samples"))

import page  # noqa: E402
from command import ROWS, Row, counted, is_there, measure  # noqa: E402
from lab import Lab  # noqa: E402
from pprof import Sample  # noqa: E402
from report import table  # noqa: E402
from sampling import FOLLOWED  # noqa: E402

HEAD = ("program", "function", "samples", "show it %", "whole stacks %", "wrong", "bar %")

# What command.py has no row for: machine code that is unwound by tables only.
NATIVE = (
    Row("C, no frame pointers", ["{build}/profile_burn"], "burn_until"),
    Row("C, frame pointers", ["{build}/profile_burn_pointers"], "burn_until"),
    Row("C, in libc", ["{build}/profile_burn_sort"], "qsort_r"),
    Row("nginx", ["{here}/burn_nginx.sh"], "ngx_single_process_cycle"),
)
# Samples are not told what greenlets work on.
GREENLETS = tuple(
    Row(f"Python, {kind}", ["/usr/bin/python3", "-B", "{here}/burn_greenlets.py", kind],
        "burn (burn_greenlets.py)", FOLLOWED, source="") for kind in ("gevent", "eventlet"))
SAMPLES_AT_LEAST = 500

# Functions of the program's own file that have called the known one, the outermost last: with others the
# sample is wrong.
OF_NODE = ("step (burn.js)", "burn (burn.js)", "answer (burn.js)")
OF_JAVA = ("Burn.answerAll (Burn.java)", "Burn.serve (Burn.java)", "Burn.lambda$main$0 (Burn.java)")
CALLERS = {
    "Ruby": ("Connection#answer (burn.rb)", "block in Connection#serve (burn.rb)", "Connection#serve (burn.rb)",
             "block (3 levels) in <main> (burn.rb)"),
    **{row.name: OF_NODE for row in ROWS if row.says},
    **{row.name: tuple(f"{name} (burn_greenlets.py)" for name in (
        "answer.<locals>.work", "answer", "serve", f"with_{row.server[-1]}.<locals>.<lambda>")) for row in GREENLETS},
    **{name: OF_JAVA for name in ("Java", "Java, interpreted", "Java, compiled once")},
    **{name: ("Burn.burn (Burn.java)", *OF_JAVA) for name in ("Java, inlined", "Java 21 or later, inlined")},
}

# Functions that may be there any number of times, and those that are never below the known one: they start greenlets.
OFTEN, OF_OTHERS = {"deeper (burn_greenlets.py)"}, ("(hub.py)",)

# At the end of a function's name, before its file, and of its class: the one request for which it was there.
REQUEST = re.compile(r"_(r\d+)(?= \(|#|$)")

Outcome = namedtuple("Outcome", "samples function whole wrong")


def misled(row, sample, request):
    """Does it show a function of another request, or the known one below functions that do not call it?"""
    if any(found != request for name in sample.functions for found in REQUEST.findall(name)):
        return True
    wanted = CALLERS.get(row.name)
    if not wanted or row.function not in sample.functions:
        return False
    own = [name for name in sample.functions if name.endswith(row.function.split(" ")[-1]) and name not in OFTEN]
    return tuple(own[own.index(row.function) + 1:]) != wanted or any(
        name.endswith(OF_OTHERS) for name in sample.functions)


def outcome_of(build, row):
    with tempfile.TemporaryDirectory(prefix="ctxprop-stacks-") as folder, Lab("stacks") as lab:
        profile, load, _ = measure(build, row, folder, lab)
    known = counted(row, profile, load)
    requests = {request.trace: request.id for request in load.requests}
    traces = ((sample, sample.labels.get("trace_id")) for sample in profile.samples)
    wrong = sum(sample.count for sample, trace in traces if (trace in requests or not row.source)
                and misled(row, sample, requests.get(trace)))
    return Outcome(known["all"], known["function"], known["whole"], known["wrong"] + wrong)


def complaints_of(row, outcome):
    """What is not as it should be."""
    found = [f"{row.name}: {word} {count} of {outcome.samples}, less than {100 * row.bar:.0f} %"
             for word, count in (("function", outcome.function), ("whole", outcome.whole))
             if count < row.bar * outcome.samples]
    if outcome.samples < SAMPLES_AT_LEAST:
        found.append(f"{row.name}: {outcome.samples} samples are too few to tell")
    if outcome.wrong:
        found.append(f"{row.name}: {outcome.wrong} samples are wrong")
    return found


def cells(row, outcome):
    shares = [f"{100 * count / max(outcome.samples, 1):.1f}" for count in (outcome.function, outcome.whole)]
    return [row.name, f"`{row.function}`", str(outcome.samples), *shares, str(outcome.wrong), f"{100 * row.bar:.0f}"]


def self_test():
    """Is what is wrong found, and nothing else?"""
    ruby = next(row for row in ROWS if row.name == "Ruby")
    right = ["block in Object#work_r7 (burn.rb)", "rb_yield", "Object#work_r7 (burn.rb)", "Work_r7#step (burn.rb)",
             ruby.function, *CALLERS["Ruby"], "main"]
    cases = (
        ("all is well", right, False),
        ("another request's method", [name.replace("in Object#work_r7", "in Object#work_r8") for name in right], True),
        ("another request's class", [name.replace("Work_r7#", "Work_r8#") for name in right], True),
        ("another caller", [name for name in right if not name.startswith("Connection#serve")], True),
        ("the known function is not there", right[:4], False),
    )
    failed = [name for name, functions, wanted in cases
              if misled(ruby, Sample(1, 1, 0, functions, {}), "r7") is not wanted]
    good = Outcome(1000, 950, 950, 0)
    outcomes = (("good", good, 0), ("few", good._replace(samples=400, function=400, whole=400), 1),
                ("not shown", good._replace(function=949), 1), ("cut", good._replace(whole=949), 1),
                ("wrong", good._replace(wrong=1), 1))
    failed += [name for name, outcome, wanted in outcomes if len(complaints_of(ruby, outcome)) != wanted]
    print("\n".join(f"not ok - {name}" for name in failed) or f"ok - {len(cases) + len(outcomes)} verdicts")
    return int(bool(failed))


def run(build, names, writes):
    """Prints the table of the rows whose names begin so; returns the exit status."""
    lines, complaints = [], []
    for row in (*NATIVE, *GREENLETS, *(row for row in ROWS if row.name != "C")):
        if names and not row.name.lower().startswith(tuple(map(str.lower, names))):
            continue
        if not is_there(build, row):
            complaints.append(f"{row.name}: {row.server[0]} is not there")
            continue
        outcome = outcome_of(build, row)
        complaints += complaints_of(row, outcome)
        lines.append(cells(row, outcome))
        print("  ".join(lines[-1]), flush=True)
    text = table(list(HEAD), lines, True)
    print(f"\n{text}\n", *complaints, sep="\n")
    if writes and not names:
        page.write("stacks", text)
    return int(bool(complaints))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--self-test", action="store_true", help="is what is wrong found?")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    return self_test() if args.self_test else run(os.path.abspath(args.build), args.names, False)


if __name__ == "__main__":
    sys.exit(main())
