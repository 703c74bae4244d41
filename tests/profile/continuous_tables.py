#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `ctxpropd --profile` does when its tables are full: with many programs, which all have the same code under
other names, they are begun anew, no function has another program's name, and nothing grows; with more processes than
the sampler can know those that work are known.

    continuous_tables.py [--build DIR]
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from pprof import Profile  # noqa: E402
from recording import recording  # noqa: E402
from sampling import tell  # noqa: E402

WINDOW = 5
HZ = 49
FULL, RENEWALS = 25, 2  # per cent: 128 files; the tables are begun anew more often than this
AT_ONCE, CHURN_MS = 8, 1600  # programs, and how long each goes on
WHOLE, NAMED = 100, 0.95  # samples of programs with their whole stack, and how many of them are named
GROWTH, GROWTH_KIB, GROWTH_FILES = 1.2, 2048, 16  # from before tables were begun anew a second time to the last time
PROCESSES, CROWDS = 1024, 2  # the sampler knows so many
ROUNDS = 4  # of programs that come while the sampler knows as many processes as it can
CROWD_HZ, CROWD, CROWD_MS = 99, 700, 15  # processes of each crowd: each is sampled once at least
CHURN = re.compile(r"churn_\d{4}")


class Programs:
    """Copies of a program, each with another name for its function, which is its own, too."""

    def __init__(self, server, build, folder):
        self.server, self.folder, self.count = server, Path(folder), 0
        self.code = Path(build, "profile_churn").read_bytes()
        assert b"churn_0000" in self.code, "the program has no symbols"

    def run(self, count):
        """Run so many new ones, all at once, to their end."""
        running = [self.start() for _ in range(count)]
        for process in running:
            assert process.wait(timeout=60) == 0, process.returncode

    def start(self):
        self.count += 1
        path = self.folder / f"churn_{self.count:04}"
        path.write_bytes(self.code.replace(b"churn_0000", path.name.encode()))
        path.chmod(0o700)
        return self.server.spawn([path, CHURN_MS])


def churned(profiles):
    """Counter of the samples of such programs: all, whole stacks, of these named, wrong."""
    found = Counter()
    for profile in profiles:
        for sample in profile.samples:
            process = sample.labels.get("process", "")
            names = {name for name in sample.functions if CHURN.fullmatch(name)}
            found["wrong"] += sample.count * bool(names - {process})
            if names - {process}:
                print(f"# wrong: {sample.count} samples of {process!r}: {sample.functions}", flush=True)
            if CHURN.fullmatch(process):
                found["all"] += sample.count
                found["whole"] += sample.count * ("stack" not in sample.labels)
                found["named"] += sample.count * ("stack" not in sample.labels and process in names)
    return found


def complaints_of(found, least=WHOLE):
    print(f"# of programs that come and go: {dict(found)}", flush=True)
    return [f"{found['wrong']} samples have another program's function"] * (found["wrong"] > 0) + \
        [f"of {found['whole']} whole stacks {found['named']} have their function"] * \
        (found["whole"] < least or found["named"] < NAMED * found["whole"])


def complaints_of_growth(memory):
    """memory: {how often tables were begun anew: (KiB, descriptors), the most of both}"""
    print(f"# KiB and descriptors, by how often tables were begun anew: {memory}", flush=True)
    (last_kib, last_fds), early = memory[max(memory)], [memory[renewed] for renewed in sorted(memory)[:2]]
    first_kib, first_fds = map(max, zip(*early))  # with one set of tables, and for a moment two
    return [f"it has grown from {first_kib} to {last_kib} KiB"] * \
        (last_kib > GROWTH * first_kib + GROWTH_KIB) + \
        [f"it had {first_fds} descriptors, and has {last_fds}"] * (last_fds > first_fds + GROWTH_FILES)


def check_renewal(recording_, programs):
    """Tables are begun anew while requests are sampled."""
    memory, renewed = {}, 0
    recording_.wait_window()
    while renewed <= RENEWALS and programs.count < 1000:
        programs.run(AT_ONCE)
        renewed = int(recording_.counts()["renewed"])
        kib, fds = recording_.memory()
        before = memory.get(renewed, (0, 0))
        memory[renewed] = max(kib, before[0]), max(fds, before[1])
    found = [f"after {programs.count} programs: {recording_.counts()}"] * (renewed <= RENEWALS)
    found += recording_.wait_quick()
    profiles = [Profile(path) for path in recording_.windows().values()]
    counts = recording_.counts()
    print(f"# {programs.count} programs: {counts}", flush=True)
    found += [f"{counts}"] * (counts["failed"] > 0 or counts["starts"] != 1 or counts["incomplete"] < 1)
    return found + complaints_of(churned(profiles)) + complaints_of_growth(memory)


def run_renewal(build):
    with tempfile.TemporaryDirectory(prefix="ctxprop-tables-") as temporary, \
            recording(build, temporary, f"{HZ},window={WINDOW},full={FULL}") as recording_:
        return tell("tables are begun anew", check_renewal(recording_, Programs(recording_.server, build, temporary)))


def check_crowd(recording_, programs):
    """A program that comes when the sampler knows as many processes as it can is known, too."""
    crowds = [recording_.server.spawn([f"{recording_.build}/profile_crowd", CROWD, CROWD_MS], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True) for _ in range(CROWDS)]
    for crowd in crowds:
        assert crowd.stdout.readline() == "ready\n", "a crowd does not come up"
    recording_.wait_window()
    before = recording_.windows()
    met = {sample.labels["pid"] for path in before.values() for sample in Profile(path).samples
           if sample.labels.get("process") == "profile_crowd"}
    print(f"# {len(met)} processes of the crowd were met", flush=True)
    for _ in range(ROUNDS):  # most of their stacks are short while the sampler is still busy with the crowd
        programs.run(AT_ONCE)
        quick = recording_.wait_quick()
        found = churned(Profile(path) for time, path in recording_.windows().items() if time not in before)
        if found["whole"] >= WHOLE / 4:
            break
    for crowd in crowds:
        crowd.stdin.close()
    return quick + [f"only {len(met)} processes were met"] * (len(met) < PROCESSES) + complaints_of(found, WHOLE / 4)


def run_crowd(build):
    with tempfile.TemporaryDirectory(prefix="ctxprop-tables-") as temporary, \
            recording(build, temporary, f"{CROWD_HZ},window={WINDOW}") as recording_:
        return tell("more processes than the sampler can know",
                    check_crowd(recording_, Programs(recording_.server, build, temporary)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and servers go then, too
    return int(run_renewal(build) + run_crowd(build) > 0)


if __name__ == "__main__":
    sys.exit(main())
