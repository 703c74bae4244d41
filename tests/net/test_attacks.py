# SPDX-License-Identifier: Apache-2.0
"""Programs that forge what is read of them, or fill tables by what they send: others are followed as before."""
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import cases
from cases import case, equal
from following import known_as, node_map
from test_shares import APPS, ask, followed, serving, threads, upstream
from waiting import NotInTime
from worlds import Pair, common

PROGRAMS = Path(__file__).parent / "programs"
PYTHON = "/usr/bin/python3"  # whose layout forged_stack.py knows
PROFILED, PATIENCE = 5, 80  # seconds
TRIES = 30
NOT_YET = "[program not known yet]"  # of the first samples, on a busy machine
TRACESTATE_ROOM = 8192  # CTXPROP_TRACESTATES_MAX
STATE = "vendor=value"


@contextlib.contextmanager
def burning(how):
    """It listens, so that the agent finds out what it runs before it burns."""
    process = common().app.spawn([PYTHON, "-B", PROGRAMS / "forged_stack.py", how], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
    try:
        equal(process.stdout.readline(), "listening\n", how)
        known_as(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        equal(process.stdout.readline(), "ready\n", how)
        yield process
    finally:
        process.kill()
        process.wait()


def folded(folder, process):
    """[(stack, samples)] of a profile of the process, where its program is known."""
    file = Path(folder, "profile.folded")
    said = subprocess.run([f"{cases.BUILD}/ctxprop", "profile", "-p", str(process.pid), "-F", "99", "-d", f"{PROFILED}s",
                           "-o", file], check=True, timeout=PATIENCE, capture_output=True, text=True)
    lines = [line.rpartition(" ") for line in file.read_text().splitlines()]
    known = [(stack.split(";"), int(count)) for stack, _, count in lines if NOT_YET not in stack]
    if not known:
        raise NotInTime(f"the program is not known in any of {len(lines)} stacks: {said.stderr}")
    return known


@case(seconds=300, slow=True)
def forged_python_frames():
    """Python frames that lead to themselves, or nowhere, and names without end: stacks end, and an honest program is
    shown as it is"""
    if not subprocess.run([PYTHON, "--version"], capture_output=True, text=True, check=True).stdout.startswith(
            "Python 3.11"):
        raise cases.Skip(f"{PYTHON} is not Python 3.11")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        liars = [stack.enter_context(burning(how)) for how in ("cycle", "wild", "long")]
        honest = stack.enter_context(burning("none"))
        found = folded(folder, honest)
        shown = sum(count for frames, count in found if any("burn_forged" in frame for frame in frames))
        equal(shown > 0.8 * sum(count for _, count in found), True, f"the honest program: {found}")
        for liar in liars:
            for frames, _ in folded(folder, liar):
                equal(len(frames) < 400 and all(len(frame) < 1024 for frame in frames), True, f"{frames}")
            equal(liar.poll(), None, "the liar runs on")


@case(slow=True)
def confined_by_seccomp():
    """A program that dies of system calls that it does not know lives on when it is followed"""
    script = APPS / "python/executor.py"
    with serving(8620, sys.executable, "-B", PROGRAMS / "confined.py", script, Pair.APP, "8620") as server:
        known_as(server.pid)
        equal(ask(8620)[1], 0, "wrong calls")
        equal(server.poll(), None, "how it ended")


def ask_with_state(port, count):
    """[(is it the request's trace?, the tracestate)] of the calls of so many requests."""
    upstream().clear()
    traces = [os.urandom(16).hex() for _ in range(count)]
    with common().peer.inside():
        for i, trace in enumerate(traces):
            with socket.create_connection((Pair.APP, port), timeout=20) as s:
                s.sendall(f"GET /0/0/0/1/s HTTP/1.1\r\nHost: app\r\nx-truth: {i}\r\ntracestate: {STATE}\r\n"
                          f"traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
                equal(s.recv(12), b"HTTP/1.1 200", "answer")
    return [(r.traceparents[0].split("-")[1] == traces[int(r.head.get("x-truth"))], r.head.get("tracestate"))
            for r in upstream().requests]


@case(slow=True)
def tracestates_without_room():
    """The room for tracestates is taken: others' calls go without one, in the right trace, and have it again later"""
    with threads(8621):
        followed(8621, "to begin with")
        equal(ask_with_state(8621, 3), [(True, STATE)] * 3, "calls, to begin with")
        with node_map("tracestates") as states:
            made = [(1 << 40 | i).to_bytes(8, "little") for i in range(TRACESTATE_ROOM)]
            for _ in range(TRIES):  # where a program ends meanwhile, entries without a request are removed
                for key in made:
                    with contextlib.suppress(OSError):
                        states.set(key, bytes(states.value_size))
                full = ask_with_state(8621, 3)
                if len(list(states.keys())) == TRACESTATE_ROOM:
                    break
            for key in made:
                with contextlib.suppress(OSError):
                    states.delete(key)
        equal(full, [(True, "")] * 3, "calls without room")
        equal(ask_with_state(8621, 3), [(True, STATE)] * 3, "calls, with room again")
