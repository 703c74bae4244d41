#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does `ctxprop profile` find the labels and ids that programs give their work? Each program is written from one
published layout; its functions' names say which label a thread has meanwhile (labels_burn.h).

    labels.py [--build DIR] [--short] [ROW...]

--short: one row of each source.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from pprof import Profile  # noqa: E402

HZ, SECONDS = 997, 5
PATIENCE = 12  # so many times as long as it is profiled a program burns: on a busy machine the sampler begins late
RIGHT_AT_LEAST = 0.99
SAMPLES_AT_LEAST = 100  # in labelled functions, and as many in others: less is no measurement
SHOWN_AT_LEAST = 50
HOW = "PROFILE_LABELS_HOW"
BURN = re.compile(r"^(?:main\.)?burn_(\d|plain)$")
# Keys that ctxprop gives itself.
OWN = {"endpoint", "service", "process", "pid", "stack"}
OF_CONTEXT = {"trace_id", "span_id", "context_source"}

THREAD = {"thread": "t{n}"}
# Of a value of 49 bytes, the last three of which are one character, 47 would fit.
LONG = {**THREAD, "long": "0123456789" * 4 + "012345"}
TOO_LONG = "labels were too long"
IDS = {"trace_id": "a{n}" * 16, "span_id": "b{n}" * 8}

# argv: with {build}; the seconds follow the first word. wanted: labels of thread n. registers: (symbol,
# type, label). threads: those that must have their labels; of the others none may be wrong. says: what
# the command complains of. options: of `ctxprop profile`. filtered: these leave only the threads. seconds: how long
# it is profiled. least: share of the samples that must be right. shows: a function that some of these show. lies: {thread
# that need not have its labels: labels that it may have instead, or beside}.
Row = namedtuple("Row", "name argv wanted registers threads says options env filtered seconds least shows lies",
                 defaults=((), "0123", "", (), None, False, SECONDS, RIGHT_AT_LEAST, "", {}))


def library(model, preloaded, program="library"):
    path = f"{{build}}/profile_labels_{model}.so"
    return Row(f"{model} {'preloaded' if preloaded else 'dlopen'}", [f"{{build}}/profile_labels_{program}", path],
               LONG, env={"LD_PRELOAD": path} if preloaded else None)


ROWS = (
    Row("header", ["{build}/profile_labels_header"], LONG),
    Row("registered", ["{build}/profile_labels_header"],
        {**LONG, "shard": "10{n}", "customer": "{word}", "region": "r{n}"},
        registers=(("shard", "u64", "shard"), ("customer", "string", "customer"), ("region", "string", "region"))),
    Row("switched off", ["{build}/profile_labels_header"], {}, options=("--no-labels", "all"),
        registers=(("shard", "u64", "shard"),)),
    Row("only registered", ["{build}/profile_labels_header"], {"shard": "10{n}"},
        options=("--no-labels", "custom,go"), registers=(("shard", "u64", "shard"),)),
    Row("custom", ["{build}/profile_labels_custom"], LONG, says=TOO_LONG),
    Row("custom, bad", ["{build}/profile_labels_custom", "bad"], LONG, threads="3", says=TOO_LONG),
    Row("custom, lies", ["{build}/profile_labels_custom", "lies"], LONG, threads="3", says=TOO_LONG,
        lies={"2": {"label.endpoint": "victim GET /job", "label.trace_id": "0123",
                    "\ufffd[2J": "\ufffd\ufffd\ufffd"}}),
    Row("registered, lies", ["{build}/profile_labels_header", "lies"],
        {**LONG, "shard": "10{n}", "customer": "{word}", "region": "r{n}"}, threads="3", says=TOO_LONG,
        registers=(("shard", "u64", "shard"), ("customer", "string", "customer"), ("region", "string", "region")),
        lies={n: {"region": "r" * 31, "customer": "e" * 47} for n in "012"}),
    Row("otel", ["{build}/profile_labels_otel"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}),
    Row("otel, bad", ["{build}/profile_labels_otel", "bad"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}, threads="3"),
    Row("otel, lies", ["{build}/profile_labels_otel", "lies"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}, threads="3",
        says="have no names", lies={"2": {"route": "\ufffd[2J\ufffd\ufffd\ufffd"}}),
    Row("conflict", ["{build}/profile_labels_otel", "two"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}, says="ids of two traces"),
    Row("elastic instead", ["{build}/profile_labels_otel", "two"],
        {"trace_id": "c{n}" * 16, "span_id": "d{n}" * 8, "context_source": "elastic_apm"},
        options=("--no-labels", "otel")),
    Row("filter", ["{build}/profile_labels_custom"], LONG, threads="12",
        options=("--label", "thread=t[12]", "--label", "long=*"), filtered=True),
    *(Row(f"program, {how}", [f"{{build}}/profile_labels_{how}"], LONG) for how in ("static", "fixed", "stripped")),
    Row("exec", ["{build}/profile_labels_otel", "exec"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}),
    Row("threads end", ["{build}/profile_labels_otel"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}, env={HOW: "threads"}),
    Row("signals", ["{build}/profile_labels_otel"],
        {**THREAD, **IDS, "route": "/search", "context_source": "otel_thread_ctx_v1"}, env={HOW: "signals"},
        shows="on_signal"),
    # That a library was opened is found out within two of the three seconds in which there are labels.
    Row("dlclose", ["{build}/profile_labels_reload", "{build}/profile_labels_general.so",
                    "{build}/profile_labels_decoy.so"], LONG, seconds=12, least=0.3, says=TOO_LONG),
    Row("elastic", ["{build}/profile_labels_elastic"], {**IDS, "context_source": "elastic_apm"}),
    Row("go", ["{build}/profile_labels_go"], THREAD),
    Row("go, many labels", ["{build}/profile_labels_go", "many"],
        {**THREAD, **{f"more{i}": "{n}" for i in range(9)}}),
    Row("go, lies", ["{build}/profile_labels_go", "lies"], THREAD, threads="3", says=TOO_LONG,
        lies={"2": {"thread": "\ufffd[2J" * 11 + "\ufffd[2"}}),
    *(library(model, preloaded) for model in ("general", "initial", "local", "descriptor")
      for preloaded in (True, False)),
    *(library(f"musl_{model}", preloaded, "musl") for model in ("general", "descriptor")
      for preloaded in (True, False)),
)

SHORT = ("registered", "custom, bad", "custom, lies", "otel", "threads end", "signals", "dlclose", "elastic", "go",
         "descriptor dlopen")


def register(build, registry, program, row):
    for symbol, kind, label in row.registers:
        subprocess.run([f"{build}/ctxprop", "labels", "register", "--registry", registry, "--program", program,
                        "--symbol", symbol, "--type", kind, "--as", label], check=True, stdout=subprocess.DEVNULL)


def measure(build, row, folder):
    """(the profile, the summary, what the command complained of)"""
    argv = [word.format(build=build) for word in row.argv]
    env = {key: word.format(build=build) for key, word in (row.env or {}).items()}
    register(build, f"{folder}/registry", argv[0], row)
    program = subprocess.Popen([argv[0], str(PATIENCE * row.seconds), *argv[1:]], env={**os.environ, **env})
    try:
        done = subprocess.run(
            [f"{build}/ctxprop", "profile", "-p", str(program.pid), "-F", str(HZ), "-d", f"{row.seconds}s",
             "--ids", "-j", "--registry", f"{folder}/registry", "-o", f"{folder}/profile.pb.gz", *row.options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    finally:
        program.kill()
        program.wait()
    if done.returncode:
        raise RuntimeError(f"ctxprop profile: {done.returncode}: {done.stderr}")
    return Profile(f"{folder}/profile.pb.gz"), json.loads(done.stdout), done.stderr


def shown(build, file, label):
    """How many samples `ctxprop profile show` finds in a profile that have a label."""
    done = subprocess.run([f"{build}/ctxprop", "profile", "show", file, "-j", "--label", label],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)["samples"]


def thread_of(sample):
    """The thread that burns there: its number, "plain", or None for what is elsewhere."""
    found = [match[1] for name in sample.functions if (match := BURN.match(name))]
    return found[0] if len(found) == 1 else None


def wanted_of(row, thread):
    words = {"n": thread, "word": ("zero", "one", "two", "three")[int(thread)]}
    return {key: value.format(**words) for key, value in row.wanted.items()}


def judge(row, sample):
    """The verdict on a sample of a burning thread: right, missing (a label is not there) or wrong."""
    thread = thread_of(sample)
    labels = {key: value for key, value in sample.labels.items() if key not in OWN}
    if thread == "plain":
        return "wrong" if labels else "plain"
    wanted, lies = wanted_of(row, thread), row.lies.get(thread, {})
    if any(value not in (wanted.get(key), lies.get(key)) for key, value in labels.items()):
        return "wrong"
    if sample.labels.get("endpoint") in lies.values():
        return "wrong"
    if thread not in row.threads:
        return "bad thread"
    return "right" if labels == wanted else "missing"


def counts_of(profile):
    """{key: {value: samples}} of the labels that programs have given."""
    counts = {}
    for sample in profile.samples:
        for key, value in sample.labels.items():
            if key not in OWN | OF_CONTEXT:
                values = counts.setdefault(key, Counter())
                values[value] += sample.count
    return counts


def complaints_of(row, profile, summary, said):
    found, example, shown_by = Counter(), {}, 0
    for sample in profile.samples:
        if thread_of(sample) is not None:
            verdict = judge(row, sample)
            found[verdict] += sample.count
            shown_by += verdict == "right" and row.shows in sample.functions and sample.count
            example.setdefault(verdict, (sample.labels, sample.functions[:3]))
    print(f"{row.name}: " + ", ".join(f"{word} {count}" for word, count in sorted(found.items())), flush=True)
    labelled = found["right"] + found["missing"] + found["wrong"]
    least = min(labelled, found["plain"]) if not row.filtered else labelled
    others = {"plain", "bad thread"} & found.keys() if row.filtered else ()
    return [f"samples are wrong: {example.get('wrong')}"] * (found["wrong"] > 0) + \
           [f"too few are right: {example.get('missing')}"] * (found["right"] < row.least * labelled) + \
           [f"too few samples: {found}"] * (least < SAMPLES_AT_LEAST) + \
           [f"too few of the right ones show {row.shows}: {shown_by}"] * \
           (bool(row.shows) and shown_by < SHOWN_AT_LEAST) + \
           [f"samples that do not fit are there: {others}"] * bool(others) + \
           [f"the summary counts other labels: {summary['labels']}"] * \
           (summary["labels"]["samples"] != counts_of(profile)) + \
           [f"the command does not say {row.says!r}: {said}"] * (row.says not in said)


def run(build, row):
    with tempfile.TemporaryDirectory(prefix="ctxprop-labels-") as folder:
        profile, summary, said = measure(build, row, folder)
        complaints = complaints_of(row, profile, summary, said)
        for value, count in counts_of(profile).get("thread", {}).items():
            if shown(build, f"{folder}/profile.pb.gz", f"thread={value}") != count:
                complaints.append(f"profile show --label thread={value} does not show {count} samples")
    print(f"{'not ok' if complaints else 'ok'} - labels: {row.name}", flush=True)
    for complaint in complaints:
        print(f"  {complaint}", flush=True)
    return bool(complaints)


# Words of `ctxprop labels`, its exit status, and what it says then; one after the other, of one registry.
X = ("--program", "/usr/bin/x")
SLOT = ("--symbol", "tenant", "--type", "u64", "--as", "tenant")
COMMANDS = (
    (("register", *X, *SLOT), 0, "tenant of /usr/bin/x"),
    (("register", *X, "--symbol", "other", "--type", "string", "--as", "tenant"), 0, "other"),
    (("register", "--program", "/usr/bin/y", *SLOT), 0, "/usr/bin/y"),
    (("list",), 0, "/usr/bin/x other string as tenant\n/usr/bin/y tenant u64 as tenant\n"),
    (("unregister", *X, "--as", "none"), 1, "nothing of this kind"),
    (("unregister", *X), 0, "1 unregistered"),
    ((), 0, "/usr/bin/y tenant u64 as tenant\n"),
    (("register", *X), 2, "expected --program"),
    (("register", "--program", "x", *SLOT), 2, "absolute path"),
    (("register", *X, *SLOT[:-1], "a label"), 2, "without spaces"),
    (("register", *X, *SLOT[:-1], "sixteen_letters_"), 2, "15 for the label"),
    (("register", *X, "--symbol", "s", "--type", "u32", "--as", "s"), 2, "u64 or string"),
    (("remove",), 2, "list, register or unregister"),
)


def commands(build):
    with tempfile.TemporaryDirectory(prefix="ctxprop-labels-") as folder:
        complaints = []
        for words, status, says in COMMANDS:
            done = subprocess.run([f"{build}/ctxprop", "labels", *words, "--registry", f"{folder}/new/registry"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != status or says not in done.stdout:
                complaints.append(f"{' '.join(words)}: {done.returncode} instead of {status}: {done.stdout}")
        with open(f"{folder}/broken", "w") as file:
            file.write("/usr/bin/x tenant\n")
        for words in (("labels",), ("profile", "-d", "1s")):
            done = subprocess.run([f"{build}/ctxprop", *words, "--registry", f"{folder}/broken"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode != 1 or f"{folder}/broken" not in done.stderr:
                complaints.append(f"a broken registry: {done.returncode}: {done.stderr}")
    print("\n  ".join([f"{'not ok' if complaints else 'ok'} - labels: commands", *complaints]), flush=True)
    return bool(complaints)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--short", action="store_true", help="one row of each source")
    parser.add_argument("names", nargs="*", metavar="ROW", help="how rows' names begin")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    failed = 0 if args.names else commands(build)
    for row in ROWS:
        if args.short and row.name not in SHORT:
            continue
        if args.names and not row.name.startswith(tuple(args.names)):
            continue
        missing = [path for word in row.argv if word.startswith("{build}")
                   if not os.path.exists(path := word.format(build=build))]
        if missing:
            print(f"ok - labels: {row.name} # SKIP {missing[0]} is not there")
            continue
        failed += run(build, row)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
