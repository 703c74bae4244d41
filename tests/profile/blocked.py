#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does somebody's memory that never comes hold up anybody else? Programs have mapped a file of a file system whose
server does not answer (blocked_fs.c), and lead who reads them there.

    blocked.py [--build DIR] [NAME...]
"""
import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))

from agent import Agent  # noqa: E402
from lab import Lab  # noqa: E402
from pprof import Profile  # noqa: E402
from sampling import tell  # noqa: E402
from waiting import wait_until  # noqa: E402

END_SECONDS = 25  # that the daemon may take to end: its recorder has ten, and a busy machine is slow
COMMAND_SECONDS = 150  # that the command may take, with loading its programs on a busy machine
RECORDING = "[profile-recording]"
MANY = 6  # programs of one kind


@contextlib.contextmanager
def blocked(build, when, *argv):
    """The program `argv`, {file} in which is the file that does not come."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-blocked-") as folder:
        words = [str(word).format(file=f"{folder}/file") for word in argv]
        words = [f"{build}/profile_blocked_fs", when, folder, f"{build}/profile_blocked_fs", *words]
        program = subprocess.Popen(words)
        try:
            yield program
        finally:
            end_blocked(program)


def end_blocked(program):
    """Its file system's server, a child, too: to close a file the program would wait for its answer."""
    with contextlib.suppress(FileNotFoundError):
        servers = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        program.kill()
        for server in map(int, servers):
            os.kill(server, signal.SIGKILL)
    program.wait()


def labelled(build, *how):
    return [f"{build}/profile_labels_otel", "600", *how]


@contextlib.contextmanager
def neighbour(build):
    """A program that labels its work, and is like the blocked ones but for that."""
    program = subprocess.Popen(labelled(build))
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def labels_of(profile, pid):
    """(samples in functions that have a label, those with the right one, those with another one)"""
    found = Counter()
    for sample in profile.samples:
        thread = next((name[-1] for name in sample.functions if re.fullmatch(r"burn_\d", name)), None)
        if thread is None or sample.labels.get("pid") != pid:
            continue
        label = sample.labels.get("thread")
        found["right" if label == f"t{thread}" else "wrong" if label else "none"] += sample.count
    return found


def command(build, when):
    """`ctxprop profile` ends in time, says what it could not read, and knows the neighbour's labels."""
    with blocked(build, when, *labelled(build, "far", "{file}")) as program, neighbour(build) as other, \
            tempfile.TemporaryDirectory(prefix="ctxprop-blocked-") as folder:
        done = subprocess.Popen([f"{build}/ctxprop", "profile", "-d", "20s", "-F", "199", "-o", f"{folder}/p.pb.gz"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            said = done.communicate(timeout=COMMAND_SECONDS)[1]
        except subprocess.TimeoutExpired:
            done.kill()
            return [f"`ctxprop profile` has not ended after {COMMAND_SECONDS} s"]
        if done.returncode:
            return [f"`ctxprop profile`: {done.returncode}: {said}"]
        profile = Profile(f"{folder}/p.pb.gz")
        theirs, others = labels_of(profile, program.pid), labels_of(profile, other.pid)
    print(f"# {said!r}; {len(profile.samples)} stacks; labels of the blocked program: {dict(theirs)}; of the other one: {dict(others)}")
    return [f"the other program's labels: {dict(others)}"] * (others["right"] < 3 or others["wrong"] > 0) + \
           [f"the blocked program's labels are wrong: {dict(theirs)}"] * (theirs["wrong"] > 0) + \
           [f"the blocked program has no samples: {dict(theirs)}"] * (sum(theirs.values()) < 3) + \
           [f"what was not read is not said: {said}"] * ("could not be read" not in said)


def metric(host, what):
    text = host.run(["curl", "-sf", "http://127.0.0.1:9464/metrics"]).stdout
    found = re.search(rf'^ctxprop_profile_total\{{what="{what}"\}} (\S+)$', text, re.M)
    return float(found[1]) if found else 0


def end(agent):
    """The daemon ends in time."""
    begun = time.monotonic()
    agent.process.send_signal(signal.SIGTERM)
    try:
        status = agent.process.wait(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        agent.process.kill()
        return [f"the daemon has not ended {END_SECONDS} s after SIGTERM: {agent.said()}"]
    print(f"# the daemon has ended after {time.monotonic() - begun:.1f} s")
    return [f"the daemon ends with {status}: {agent.said()}"] * (status != 0)


def recorder(build):
    """A recorder goes on beside programs that are blocked, and the daemon ends in time."""
    with contextlib.ExitStack() as stack, Lab("blocked") as lab:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ctxprop-blocked-"))
        for number in range(MANY):
            when = "reads" if number % 2 else "untaken"
            stack.enter_context(blocked(build, when, *labelled(build, "far", "{file}")))
        host = lab.host("server")
        agent = Agent(host, build, "--store", f"{folder}/store.db", "--http", "127.0.0.1:9464",
                      "--profile", "19,window=10")
        wait_until(lambda: RECORDING in agent.said(), agent.said)
        found = []
        try:
            wait_until(lambda: metric(host, "unreadable") >= 1, "nothing was unreadable")
            before = metric(host, "windows")
            wait_until(lambda: metric(host, "windows") >= before + 2, "no windows are written")
        except AssertionError as error:
            found.append(str(error))
        return found + ["the recorder was started again"] * (agent.said().count(RECORDING) != 1) + end(agent)


def hung_recorder(build):
    """A recorder that does nothing is killed, and comes back; also one that cannot be asked to end."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-blocked-") as folder, Lab("blocked") as lab:
        agent = Agent(lab.host("server"), build, "--store", f"{folder}/store.db", "--profile", "19,window=10")
        wait_until(lambda: RECORDING in agent.said(), agent.said)
        time.sleep(6)  # turns were seen
        os.kill(recorder_of(agent.process.pid), signal.SIGSTOP)
        try:
            wait_until(lambda: agent.said().count(RECORDING) == 2, agent.said, seconds=120)
        except AssertionError as error:
            return [str(error), *end(agent)]
        found = ["why is not told"] * (not agent.logged("profile-restart", "hung"))
        os.kill(recorder_of(agent.process.pid), signal.SIGSTOP)
        return found + end(agent)


def recorder_of(daemon):
    for pid in Path(f"/proc/{daemon}/task/{daemon}/children").read_text().split():
        if Path(f"/proc/{pid}/comm").read_text().strip() == "ctxprop-record":
            return int(pid)
    raise AssertionError("there is no recorder")


ROWS = {
    "the command, what is asked for is never answered": lambda build: command(build, "reads"),
    "the command, nothing is taken any more": lambda build: command(build, "untaken"),
    "the recorder, and the daemon's end": recorder,
    "a recorder that hangs": hung_recorder,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help="how rows' names begin")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # namespaces and programs go then, too
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        print("ok - all # SKIP /dev/fuse cannot be used")
        return 0
    failed = 0
    for name, row in ROWS.items():
        if not args.names or name.startswith(tuple(args.names)):
            failed += tell(name, row(build))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
