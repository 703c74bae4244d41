# SPDX-License-Identifier: Apache-2.0
"""Runs tests, part by part, and ends with one line: "N passed, N failed, N skipped".

    parts.py [--prepared SECONDS]               what a change can break, in less than ten minutes
    parts.py [--prepared SECONDS] --all         everything: what CI runs
    parts.py [--prepared SECONDS] PART...       these parts, whole
"""
import argparse
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PYTHON = [sys.executable, "-B"]
SKIP_STATUS = 77

# seconds: after which a part is ended and has failed. beside: it uses one CPU for minutes, and
# little depends on how fast. These run beside the others from the beginning on, one after the
# other, and their output is shown in the end. quick: the words with which it belongs to a quick
# run, too; None: it does not. failed: gives, for its output, the words with which only what has
# failed runs once more; None: all of it does.
Part = namedtuple("Part", "name argv seconds beside quick failed", defaults=(False, None, None))
Count = namedtuple("Count", "passed failed skipped")
# before: the Result of the first time, of a part that ran twice.
Result = namedtuple("Result", "name count seconds output before", defaults=(None,))


def ctest(folder, label):
    return ["ctest", "--test-dir", folder, "-L", label, "--output-on-failure",
            "--no-tests=error"]


def failed_tests(_):
    """What makes ctest run only what has failed."""
    return ["--rerun-failed"]


def failed_cases(output):
    """Names of cases that have failed, where a line is "not ok NUMBER - MODULE.CASE: TITLE"."""
    return re.findall(r"^not ok \d+ - ([\w.]+):", output, re.M)


def failed_rows(output):
    """The rows of a table with a failure in one of its columns."""
    return [word for name in re.findall(r"^(\S.*?) {2,}.*\bfail\b.*$", output, re.M) for word in ("--only", name)]


# In each kernel what its Debian's compiler makes of the BPF programs: 6.12 is that of Debian 13.
CLANG19 = ["--build-of", "6.12=build-clang19"] if (REPO / "build-clang19").exists() else []


def python(script, *words):
    return [*PYTHON, f"tests/{script}", *words]


# Of accuracy, a row of each runtime.
ACCURACY_QUICK = [word for row in ("c-threads", "c-epoll", "python-threads", "aiohttp", "gunicorn-gevent", "go", "java-executor",
                                   "tomcat", "puma", "php-fpm-unix", "node-list", "nginx-new", "haproxy")
                  for word in ("--row", f"={row}")]
AGENT_QUICK = ("start", "devices", "restart", "stop", "force", "collect", "words", "config_check", "store_bounds", "store_killed")
SEE_QUICK = ("promtool", "counts", "dashboard_layout", "spans", "pages", "filters", "trace", "endpoints", "map", "policy", "refused",
             "clicks", "keys", "map_page", "profile_none", "profile_table")

PARTS = (
    Part("bpf", ctest("build", "bpf"), 600, quick=()),
    Part("kubernetes", python("kubernetes/kubernetes.py"), 300),
    Part("package", python("package/package.py"), 300),
    Part("service", python("package/service.py"), 300),
    Part("tarball", python("package/tarball.py"), 400),
    Part("image", python("image/image.py"), 300),
    Part("profile", python("profile/sampling.py", "--build", "build"), 600),
    Part("profile adverse", python("profile/adverse.py", "--build", "build"), 300),
    Part("profile command", python("profile/command.py", "--build", "build"), 600, quick=("C", "Python", "Go")),
    Part("profile off-cpu", python("profile/offcpu.py", "--build", "build"), 600),
    Part("profile continuous", python("profile/continuous.py", "--build", "build"), 300),
    # Its crowd of programs keeps the agents of other parts busy: not beside.
    Part("profile full tables", python("profile/continuous_tables.py", "--build", "build"), 400),
    Part("profile cost", python("bench/bench.py", "--build", "build", "--short", "--arms", "profile"), 200),
    Part("profile itself", ctest("build", "profile"), 600),
    Part("net", python("net/run.py", "--build", "build"), 1500, quick=("--quick",), failed=failed_cases),
    Part("agent", python("agent/run.py"), 1200, quick=AGENT_QUICK),
    Part("otlp", python("otlp/otlp.py", "--build", "build"), 300),
    Part("cluster", python("cluster/cluster.py", "--build", "build"), 600),
    Part("spans", python("spans/truth.py", "--build", "build"), 600, quick=()),
    Part("logs", python("logs/logs.py", "--build", "build", "--count", "500"), 600),
    Part("connections", python("spans/connections.py", "--build", "build"), 200),
    Part("see", python("see/see.py", "--build", "build"), 900, quick=SEE_QUICK),
    Part("chaos", python("chaos/chaos.py", "--short", "--jobs", "3"), 900, quick=()),
    Part("life", python("chaos/chaos.py", "--life"), 600),
    Part("chaos itself", python("chaos/chaos.py", "--self-test"), 300),
    Part("accuracy", python("accuracy/accuracy.py", "--short"), 900, quick=ACCURACY_QUICK),
    Part("accuracy itself", python("accuracy/accuracy.py", "--self-test"), 400),
    Part("inferred", python("accuracy/accuracy.py", "--rows", "metadata", "--short"), 200),
    Part("vm", python("vm/vm.py", "table", "--short", "--build", "build", *CLANG19), 2400, beside=True,
         failed=failed_rows),
    Part("samples", python("samples/samples.py", "--build", "build", "--short", "whose"), 1800, beside=True, quick=()),
    Part("unit", ctest("build", "unit"), 900, beside=True, quick=(), failed=failed_tests),
    Part("profile outputs", python("profile/outputs.py", "--build", "build"), 600, beside=True, quick=()),
    Part("w3c", python("w3c/conformance.py", "--build", "build"), 600, beside=True, quick=()),
    Part("profile blocked", python("profile/blocked.py", "--build", "build"), 400, beside=True),
    Part("profile full disk", python("profile/continuous_disk.py", "--build", "build"), 400, beside=True),
    Part("profile labels", python("profile/labels.py", "--build", "build", "--short"), 300, beside=True),
    Part("sanitizers", ["nice", *ctest("build-debug", "unit")], 2400, beside=True, failed=failed_tests),
    Part("fuzz", ["nice", "tests/fuzz/fuzz.sh", "5", "200000"], 1800, beside=True),
    Part("check", ["nice", *python("check/check.py")], 1800, beside=True, quick=()),
)

SUMMARY = re.compile(r"^(\d+) pass(?:ed)?, (\d+) fail(?:ed)?, (\d+) skip(?:ped)?$", re.M)
TAP = re.compile(r"^(not ok|ok|skip)\b(.*)$", re.M)
CTEST_FAILED = re.compile(r"^\d+% tests passed, (\d+) tests failed out of (\d+)$", re.M)
CTEST_SKIPPED = re.compile(r"\*\*\*Skipped")
# Where a part says what went wrong, which ends with the next line that says how something went.
BAD_LINE = re.compile(r"^not ok\b|\bFAIL(?:ED)?\b|\*\*\*(?:Failed|Timeout|Exception)|MISSED|^missed\b|ERROR:|Traceback")
NEXT_LINE = re.compile(r"^(?:ok|not ok|skip)\b")
LINES_AFTER, LINES_SHOWN = 25, 80
# What has failed beside others runs once more in the end, alone, and this result counts: a wait may have been too short,
# or samples too few. Not if a part said that something was wrong; neither if many have failed, or it would take long.
WRONG = re.compile(r"(?<!\b0 )\bwrong\b(?!\W* 0\b)|corrupt|\bstale\b|another|Sanitizer", re.I)
AGAIN_PARTS, AGAIN_CASES, AGAIN_SECONDS = 5, 5, 400


def count(output, status):
    """What a part says about itself: a summary line, TAP lines, ctest, or only an exit status."""
    if found := SUMMARY.findall(output):
        return Count(*map(int, found[-1]))
    if found := CTEST_FAILED.search(output):
        failed, skipped = int(found[1]), len(CTEST_SKIPPED.findall(output))
        return Count(int(found[2]) - failed - skipped, failed, skipped)
    if found := TAP.findall(output):
        skipped = sum(word == "skip" or "# SKIP" in rest for word, rest in found)
        failed = sum(word == "not ok" for word, _ in found)
        return Count(len(found) - failed - skipped, failed, skipped)
    return Count(int(status == 0), int(status not in (0, SKIP_STATUS)), int(status == SKIP_STATUS))


def judge(output, status):
    """As count(), but a bad exit status or no test at all is a failure whatever was printed."""
    counted = count(output, status)
    bad = status not in (0, SKIP_STATUS) or not sum(counted)
    return counted._replace(failed=1) if bad and not counted.failed else counted


def complaint(lines, first):
    """The numbers of the lines that belong to a bad one."""
    for at in range(first, min(first + LINES_AFTER, len(lines))):
        if at > first and NEXT_LINE.match(lines[at]):
            return
        yield at


def complaints(output):
    """What a part that has failed said of it: its bad lines with those behind them, or else its last lines."""
    lines = output.splitlines()
    bad = [number for number, line in enumerate(lines) if BAD_LINE.search(line)]
    wanted = sorted({at for first in bad for at in complaint(lines, first)})
    return [lines[at] for at in wanted][:LINES_SHOWN] or lines[-LINES_SHOWN:]


class TooLong(Exception):
    """Raised by the alarm clock."""


def on_alarm(signum, frame):
    raise TooLong()


class Running:
    """A part that was started: its output comes by a pipe, or by a file if it runs beside."""

    def __init__(self, part):
        self.part, self.begin, self.took = part, time.monotonic(), None
        self.file = tempfile.TemporaryFile("w+", errors="replace") if part.beside else None
        self.process = subprocess.Popen(part.argv, cwd=REPO, text=True, errors="replace", bufsize=1,
                                        stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                                        stdout=self.file or subprocess.PIPE,
                                        start_new_session=True)

    def wait_beside(self):
        """Until it has ended, as it has to in time."""
        try:
            self.process.wait(timeout=self.part.seconds)
        except subprocess.TimeoutExpired:
            self.end(f"{self.part.seconds} s are over")
        self.took = time.monotonic() - self.begin

    def lines(self):
        """What it prints, as it comes; all of it if it ran beside, and has ended."""
        if self.file:
            self.file.seek(0)
        yield from self.file or self.process.stdout

    def finish(self):
        """Show its output; returns its Result."""
        print(f"\n== {self.part.name}", flush=True)
        shown = []
        try:
            signal.setitimer(signal.ITIMER_REAL, self.part.seconds)
            for line in self.lines():
                print(line, end="", flush=True)
                shown.append(line)
            status = self.process.wait()
        except TooLong:
            self.end(f"{self.part.seconds} s are over")
            status = 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        output = "".join(shown)
        return Result(self.part.name, judge(output, status), self.took or time.monotonic() - self.begin, output)

    def end(self, why):
        """Ask it to clean up and end, then insist."""
        if self.process.poll() is not None:
            return
        print(f"parts.py: {self.part.name}: {why}", flush=True)
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


def begin(part, started):
    """Start a part, and put it down. Returns it."""
    running = Running(part)
    started.append(running)
    return running


def run_beside(part, started):
    """Run a part to its end. Returns it."""
    running = begin(part, started)
    running.wait_beside()
    return running


def run(parts):
    """Run parts; returns their Results."""
    lane = concurrent.futures.ThreadPoolExecutor(1)
    started, results = [], []
    beside = {part.name: lane.submit(run_beside, part, started) for part in parts if part.beside}
    try:
        for part in parts:
            running = beside[part.name].result() if part.beside else begin(part, started)
            results.append(running.finish())
    finally:
        lane.shutdown(wait=False, cancel_futures=True)
        for running in started:
            running.end("interrupted")
    return results


def words_again(part, result):
    """What is added to a part's command to run only what has failed; nothing: all of it runs."""
    return part.failed(result.output) if part.failed else []


def deserves_another(part, result):
    """Has it failed in a way for which a busy machine may be the reason?"""
    some = words_again(part, result) and result.count.failed <= AGAIN_CASES
    return result.count.failed and (some or result.seconds < AGAIN_SECONDS) \
        and not WRONG.search("\n".join(complaints(result.output)))


def again(part, first):
    """The Result of a part of which what has failed ran once more, alone."""
    words = words_again(part, first)
    second = run([part._replace(argv=[*part.argv, *words], beside=False)])[0]
    if words:
        ran, failed = sum(first.count) - first.count.skipped, second.count.failed
        second = second._replace(count=Count(ran - failed, failed, first.count.skipped))
    return second._replace(before=first)


def run_again(results):
    """Results, of which those that deserve it are of what ran once more."""
    parts = {part.name: part for part in PARTS}
    failed = [result.name for result in results if deserves_another(parts[result.name], result)]
    if len(failed) > AGAIN_PARTS:
        return results
    return [again(parts[result.name], result) if result.name in failed else result for result in results]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prepared", type=int, default=0, help="seconds spent before, to show")
    names = [part.name for part in PARTS]
    parser.add_argument("--all", action="store_true", help="everything, as CI does; without it and without PART: a quick run")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(names))
    args = parser.parse_args()
    for name in args.parts:
        if name not in names:
            parser.error(f"no part {name}; there are {', '.join(names)}")
    if args.all and args.parts:
        parser.error("either --all, or the names of parts")
    return args


def wanted(args):
    """The parts that were asked for."""
    if args.all:
        return PARTS
    if args.parts:
        return [part for part in PARTS if part.name in args.parts]
    return [part._replace(argv=[*part.argv, *part.quick]) for part in PARTS if part.quick is not None]


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, on_alarm)
    begin = time.monotonic()
    results = run(wanted(args))
    if args.all:
        results = run_again(results)
    print(f"\n{'part':16}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    print(f"{'(build)':40}{args.prepared:9}")
    for result in results:
        counted = result.count
        print(f"{result.name:16}{counted.passed:8}{counted.failed:8}{counted.skipped:8}{result.seconds:9.0f}")
    print(f"{'(all)':40}{args.prepared + time.monotonic() - begin:9.0f}")
    for result in results:
        if result.before:
            print(f"\n== {result.name} ran twice; the first time, beside others:", *complaints(result.before.output), sep="\n    ")
        if result.count.failed:
            print(f"\n== {result.name} has failed:", *complaints(result.output), sep="\n    ")
    total = Count(*map(sum, zip(*(result.count for result in results))))
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return int(total.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
