# SPDX-License-Identifier: Apache-2.0
"""Programs whose runtimes' structures lie, in Ruby, Node and Java: stacks end, what is shown can be shown, and an
honest program beside them is shown and followed as it is."""
import contextlib
import ctypes.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import cases
from cases import case, equal, need_program
from following import known_as, open_requests
from forging import NAME, forge_frame, forge_names, forge_ruby_frames
from test_shares import ask, asyncio, cgroup, entries, followed, serving, threads, upstream
from waiting import NotInTime, wait_until
from worlds import Pair, common

sys.path.insert(0, str(Path(__file__).parents[1] / "profile"))

from pprof import Profile  # noqa: E402 (the path is set just above)

PROGRAMS = Path(__file__).parent / "programs"
SECONDS, PATIENCE, HERTZ = 6, 120, 199
RUBY, NODE, JAVA = 7, 8, 9  # enum runtime_kind
CALLS = 3
TRIES = 3  # of a profile, on a busy machine
MOSTLY = 50  # per cent
FRAMES_MAX, NAME_MAX = 400, 1024
SAMPLES_MIN = 20
TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
NOT_YET, EARLY = "[program not known yet]", "[unknown code]"


@contextlib.contextmanager
def burning(folder, *argv):
    """It listens, so that the agent finds out what it runs before it burns."""
    process = common().app.spawn(["sh", "-c", f"echo $$ >{folder}/cgroup.procs && exec \"$@\"", "sh", *argv],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        equal(process.stdout.readline(), "listening\n", f"{argv}")
        known_as(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        process.said = process.stdout.readline().split()
        equal(process.said[:1], ["ready"], f"{argv}")
        yield process
    finally:
        process.kill()
        process.wait()


def profile(folder):
    """{process: [(functions, samples)]} of a profile of the cgroup, where something is known of the program."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "profile.pb.gz")
        said = subprocess.run([f"{cases.BUILD}/ctxprop", "profile", "--cgroup", f"/{folder.name}", "-F", str(HERTZ), "-d",
                               f"{SECONDS}s", "-o", file], check=True, timeout=PATIENCE, capture_output=True, text=True)
        if said.stderr:
            print(f"# {said.stderr.strip()}")
        found = {}
        for sample in Profile(file).samples:
            if NOT_YET not in sample.functions:
                found.setdefault(sample.labels.get("pid"), []).append((sample.functions, sample.count))
    return found


def sockets(pid):
    """Those that a process has, by name."""
    return {name for file in Path(f"/proc/{pid}/fd").iterdir() if (name := os.readlink(file)).startswith("socket:")}


def is_shown(function):
    """Can it be shown in a line, from left to right?"""
    return len(function) < NAME_MAX and not any(
        unicodedata.category(c) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(c) in TURNS for c in function)


def enough(how, stacks):
    """Waits are too short for a machine that is busy with others: a case with few samples says nothing."""
    count = sum(samples for _, samples in stacks)
    if count < SAMPLES_MIN:
        raise NotInTime(f"{how}: {count} samples")


def judge(how, process, stacks):
    """What a liar is shown as, and that it lives."""
    equal(process.poll(), None, f"{how}: how it ended")
    for functions, _ in stacks:
        equal(len(functions) < FRAMES_MAX, True, f"{how}: {len(functions)} frames")
        equal([name for name in functions if not is_shown(name)], [], f"{how}: names that cannot be shown")
    enough(how, stacks)


def names_of(stacks):
    """What the program's function is called in them."""
    return {name for functions, _ in stacks for name in functions if NAME.decode() in name}


def named(stacks):
    """How many of its samples a program has in its function, in a hundred; those left out that came too early."""
    known = [(functions, samples) for functions, samples in stacks if functions not in ([], [EARLY])]
    shown = sum(samples for functions, samples in known if any(NAME.decode() in name for name in functions))
    count = sum(samples for _, samples in known)
    if count < SAMPLES_MIN:
        raise NotInTime(f"{count} samples in code that is known")
    return 100 * shown // count


def known(how, stacks):
    """Most of its samples are in its function, as long as nobody lies."""
    enough(how, stacks)
    if named(stacks) < MOSTLY:
        raise NotInTime(f"{how}: few samples have its function's name")


def profile_with(folder, processes, demand):
    """A profile in which each process has what is demanded, by function(how, stacks), of several on a busy machine.

    processes: {how: process}
    """
    for left in reversed(range(TRIES)):
        found = profile(folder)
        try:
            for how, process in processes.items():
                demand(how, found.get(process.pid, []))
        except NotInTime:
            if not left:
                raise
        else:
            return found


def depth(stacks):
    """How many functions most of its samples have."""
    counts = {}
    for functions, samples in stacks:
        counts[len(functions)] = counts.get(len(functions), 0) + samples
    return max(counts, key=counts.get, default=0)


def renames(kind, how):
    """A lie: names of the function, of which there have to be some; it is not called that any more."""
    def forge(process):
        equal(forge_names(process.pid, kind, how) > 0, True, f"{kind}, {how}: names are found")
    return forge, lambda before, after: names_of(before) and not names_of(before) & names_of(after)


def reframes(how):
    """A lie: who has called the function; less of the stack is shown."""
    return lambda process: forge_frame(process.pid, how), lambda before, after: depth(before) > depth(after)


def forged(kind, argv, lies):
    """Liars beside an honest program of the same kind, before and after they begin to lie.

    argv: of each. lies: {how: (function(process) that makes it a liar, what has to have come of that)}
    """
    with cgroup() as folder, contextlib.ExitStack() as stack, threads(8640):
        followed(8640, "to begin with")
        honest = stack.enter_context(burning(folder, *argv))
        liars = {how: stack.enter_context(burning(folder, *argv)) for how in lies}
        before = profile_with(folder, liars, known)
        for how, (lie, _) in lies.items():
            lie(liars[how])
        after = profile_with(folder, {"honest": honest, **liars}, enough)
        followed(8640, f"beside liars in {kind}")
        equal(named(after[honest.pid]) > 80, True, f"the honest program: {after[honest.pid]}")
        for how, liar in liars.items():
            judge(how, liar, after.get(liar.pid, []))
            equal(lies[how][1](before[liar.pid], after[liar.pid]), True,
                  f"{how}: something has come of it: {before[liar.pid]}, then {after[liar.pid]}")


@case(seconds=300)
def ruby():
    """Ruby: frames without end or at no address, names without end or with control characters"""
    version = subprocess.run([need_program("ruby"), "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True)
    if not version.stdout.startswith("3.1."):
        raise cases.Skip("ruby is not Ruby 3.1")
    frames = {how: (lambda process, how=how: forge_ruby_frames(process.pid, int(process.said[1]), how),
                    lambda before, after: names_of(before) and not names_of(after)) for how in ("endless", "wild")}
    forged("ruby", ["ruby", PROGRAMS / "forged_burn.rb"],
           {**frames, "long": renames("ruby", "long"), "controls": renames("ruby", "controls")})


# What lies in Node and in Java: who has called the function.
FRAMES = {how: reframes(how) for how in ("cycle", "wild")}


@case(seconds=300)
def node():
    """Node: frames that lead to themselves or nowhere, of no function; names without end or with control characters"""
    nobody = (lambda process: forge_frame(process.pid, "nobody"), lambda before, after: names_of(before) and not names_of(after))
    forged("node", [need_program("node"), PROGRAMS / "forged_burn.js"],
           {**FRAMES, "nobody": nobody, "long": renames("node", "long"), "controls": renames("node", "controls")})


@case(seconds=300)
def java():
    """Java: the same, but for a frame of no function: Java's interpreter itself needs it"""
    need_program("javac", "java")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder, PROGRAMS / "ForgedBurn.java"], check=True, timeout=PATIENCE)
        # Without compiled code, and without stops at which Java looks at its own frames.
        quiet = ["-Xint", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=0",
                 f"-XX:ErrorFile={folder}/error"]
        forged("java", ["java", *quiet, "-cp", folder, "ForgedBurn"],
               {**FRAMES, "long": renames("java", "long"), "controls": renames("java", "controls")})


@case(seconds=200)
def perf_maps():
    """What a program writes for perf of the code that it has made (/tmp/perf-PID.map) gives no names, and nobody waits for it"""
    with cgroup() as folder, contextlib.ExitStack() as stack:
        liars = {}
        for how in ("names", "huge", "fifo", "device"):
            liars[how] = stack.enter_context(burning(folder, sys.executable, "-B", PROGRAMS / "perf_map.py", how))
            stack.callback(Path(f"/tmp/perf-{liars[how].pid}.map").unlink)
        found = profile(folder)
        for how, liar in liars.items():
            judge(how, liar, found.get(liar.pid, []))
            equal([name for functions, _ in found[liar.pid] for name in functions if "named_by" in name], [], how)


LIES = ("cycle", "wild", "counts", "claims")


@contextlib.contextmanager
def pretending(port, runtime, how, library, victim=0):
    """A server that is taken for the runtime (a name, and its enum runtime_kind), with structures that lie."""
    with serving(port, "env", f"VICTIM={victim}", f"{cases.BUILD}/net_pretender", runtime[0], f"{Pair.APP}:{port}", how,
                 library) as liar:
        equal(known_as(liar.pid), runtime[1], f"{how}: what it is taken for")
        yield liar
        equal(liar.poll(), None, f"{how}: how it ended")


def shown(liar):
    """Traces of the requests that threads of a server are shown to work on."""
    listed = common().app.run([f"{cases.BUILD}/ctxprop", "who", "--json", "--all", str(liar.pid)], check=False, timeout=PATIENCE)
    return {row["trace_id"] for row in json.loads(listed.stdout)} - {None}


def at_work(runtime, library, lies=LIES):
    """Servers that lie take requests and call: others are followed as they are."""
    with threads(8640), asyncio(8641) as honest:
        known_as(honest.pid)
        for number, how in enumerate(lies):
            port = 8642 + number
            with pretending(port, runtime, how, library) as liar:
                _, wrong = ask(port)
                equal(wrong, 0, f"{how}: its calls with another request's trace")
                with held(port, "/hold") as trace:
                    equal(shown(liar) <= {trace}, True, f"{how}: what its threads are shown to work on")
                followed(8640, f"{how}: threads beside it")
                followed(8641, f"{how}: tasks beside it")


@contextlib.contextmanager
def held(port, target):
    """A request that is read, and stays open; gives its trace."""
    trace = os.urandom(16).hex()
    with common().peer.inside():
        client = socket.create_connection((Pair.APP, port), timeout=20)
    with client:
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: app\r\ntraceparent: 00-{trace}-00f067aa0ba902b7-01\r\n\r\n".encode())
        wait_until(lambda: trace in {request.trace_id for request in open_requests(common().app).values()}, "it is open")
        yield trace


def called_for(port, trace):
    """How many of a server's calls for some other requests are in this trace."""
    equal(ask(port, CALLS)[1], 0, "calls with another request's trace")
    return sum(trace in request.traceparents[0] for request in upstream().requests)


def is_believed(runtime, library):
    """What is read of a liar is what it says: otherwise it would prove nothing that other lies do no harm."""
    with pretending(8647, runtime, "first", library), held(8647, "/hold") as trace:
        wait_until(lambda: called_for(8647, trace) == CALLS, "its calls are for the request of its own that it names")


@case(seconds=200)
def ruby_at_work():
    """A server that pretends to be Ruby, with contexts that lie, takes requests and calls: others are followed as they are"""
    if not ctypes.util.find_library("ruby-3.1"):
        raise cases.Skip("there is no library of Ruby 3.1")
    at_work(("ruby", RUBY), "libruby-3.1.so.3.1")


@case(seconds=200)
def node_at_work():
    """The same as Node, with objects that lie; one that has other people's connections does not call for their requests"""
    runtime, library = ("node", NODE), f"{cases.BUILD}/pretended/libnode.so"
    at_work(runtime, library)
    is_believed(runtime, library)
    with pretending(8646, runtime, "first", library) as victim, held(8646, "/hold") as trace, \
            pretending(8648, runtime, "others", library, victim.pid) as liar:
        equal(entries("objects", victim.pid), 1, "connections of others that requests were read from")
        equal(len(sockets(victim.pid) & sockets(liar.pid)) > 1, True, "sockets that it has of others")
        equal(called_for(8648, trace), 0, "its calls for another process's request")
        equal(shown(liar), set(), "what its threads are shown to work on")


@case(seconds=200)
def java_at_work():
    """The same as Java, with threads and objects that lie"""
    runtime, library = ("java", JAVA), f"{cases.BUILD}/pretended/libjvm.so"
    at_work(runtime, library)
    is_believed(runtime, library)
