# SPDX-License-Identifier: Apache-2.0
"""How daemons start and end: nothing is done twice, nobody is missed, nothing is waited for."""
import contextlib
import os
import pathlib
import struct
import subprocess
import sys
import time

import hooks
import pinned
from bpf_map import Map
from daemon import QUIET, wait_for

STARTS = int(os.environ.get("CTXPROP_STARTS", "30"))
NAMESPACES = int(os.environ.get("CTXPROP_NAMESPACES", "50"))
WANTED = 1  # enum runtime_kind: user space was asked what the process runs
# On a quiet machine a second and two; tests may share it with others.
FOLLOWED_SECONDS, ENDED_SECONDS = 5, 8
NAMESPACE_SECONDS = 0.03  # that each adds to a start where nobody else is at work
LISTENER = "import signal, socket, sys\n" \
    "listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n" \
    "print('listens', flush=True)\nsignal.pause()"


def kind_of(process):
    """What the probes know of a process (enum runtime_kind); 0: nothing."""
    for path in pinned.BPFFS.glob("node/v*/maps/runtimes"):
        with Map(path) as runtimes:
            value = runtimes.get(struct.pack("I", process.pid))
        return struct.unpack_from("I", value)[0] if value else 0
    return 0


def listen(bench, port):
    """A program that listens now, and gets no request."""
    process = bench.node.spawn([sys.executable, "-c", LISTENER, port], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def is_known(process):
    return kind_of(process) > WANTED


def check_followed(bench, processes, what):
    begin = time.monotonic()
    known = wait_for(lambda: all(map(is_known, processes)), FOLLOWED_SECONDS)
    bench.check(known, f"{what}: who listened before, meanwhile and after is known "
                       f"({time.monotonic() - begin:.1f} s)",
                f"{[kind_of(p) for p in processes]}\n{bench.agent.log()}")


def check_end(bench, what):
    begin = time.monotonic()
    bench.agent.process.terminate()
    try:
        code = bench.agent.process.wait(ENDED_SECONDS)
    except subprocess.TimeoutExpired:
        stack = pathlib.Path(f"/proc/{bench.agent.process.pid}/stack").read_text()
        bench.check(False, f"{what}: SIGTERM ends it", f"{stack}\n{bench.agent.log()}")
        bench.agent.kill()
        return
    # Before it can be told, at the very beginning, it just ends.
    bench.check(code in (0, -15), f"{what}: SIGTERM ends it ({time.monotonic() - begin:.1f} s)",
                f"{code}\n{bench.agent.log()}")


def spawn(bench):
    """Start without waiting."""
    bench.agent.file.seek(0)
    bench.agent.file.truncate()
    bench.agent.process = bench.node.spawn([bench.agent.build / "ctxpropd", *QUIET],
                                           stderr=bench.agent.file)


def until_ready(bench):
    wait_for(lambda: bench.agent.logs("ready", seconds=0) or bench.agent.process.poll() is not None, 90)


def whole_life(bench, what):
    """Started, used, ended."""
    before = listen(bench, 8001)
    spawn(bench)
    meanwhile = listen(bench, 8002)
    until_ready(bench)
    check_followed(bench, [before, meanwhile, listen(bench, 8003)], what)
    check_end(bench, what)


def cut_short(bench, what, seconds):
    """Ended while it starts."""
    spawn(bench)
    time.sleep(seconds)
    check_end(bench, f"{what}, {seconds:.2f} s after its start")


def case_starts(bench):
    """Many starts, cold and adopting, some of them cut short, each followed by one that works."""
    for i in range(STARTS):
        what = f"start {i}"
        if i % 3 == 0:
            bench.agent.ctxprop("detach", "--force")
            what += ", cold"
        if i % 2:
            cut_short(bench, what, (i * 7 % 20) / 10)
        else:
            whole_life(bench, what)
        for process in bench.lab.processes:
            if process is not bench.agent.process and process.poll() is None:
                process.kill()
                process.wait()


def programs_of(bench):
    """{id: name} of the BPF programs of which the daemon holds a descriptor."""
    ids = set()
    for info in pathlib.Path(f"/proc/{bench.agent.process.pid}/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            ids |= {line.split()[1] for line in info.read_text().splitlines()
                    if line.startswith("prog_id:")}
    return {program: hooks.program_name(program)[:15] for program in ids}


# One of each runtime that has probes, as the kernel cuts their names.
OF_RUNTIMES = {"probe_opening_m", "probe_go_take", "probe_task_made", "probe_ruby_take", "probe_stream_be"}


def runtimes_loaded(bench):
    """Those programs, {name: id}, as soon as all are there, or after a while."""
    def held():
        return {name: program for program, name in programs_of(bench).items() if name in OF_RUNTIMES}
    wait_for(lambda: set(held()) == OF_RUNTIMES)
    return held()


def case_preloaded(bench):
    """What the processes of a runtime will need is loaded before there is one, once for all daemons."""
    bench.start()
    first = runtimes_loaded(bench)
    bench.check(set(first) == OF_RUNTIMES, "probes are loaded that nobody needs yet", first)
    bench.agent.stop()
    bench.start()
    bench.check(runtimes_loaded(bench) == first, "the next daemon takes those that are there", first)
    bench.agent.stop()
    for pin in (pinned.node_layer() / "uprobe-programs").glob("*-probe_opening_*"):
        pin.unlink()
    bench.start()
    last = runtimes_loaded(bench)
    bench.check(last["probe_opening_m"] != first["probe_opening_m"], "what is missing is loaded anew", last)
    bench.check(last["probe_go_take"] == first["probe_go_take"], "and nothing else", last)


def cold_start(bench, *options):
    """Start with nothing pinned. Returns how long that took, and the number of descriptors."""
    if bench.agent.process:
        bench.agent.stop()
    bench.agent.ctxprop("detach", "--force")
    begin = time.monotonic()
    bench.start(*options)
    return time.monotonic() - begin, len(os.listdir(f"/proc/{bench.agent.process.pid}/fd"))


def case_descriptors(bench):
    """A network namespace costs no descriptor, and little time. By hand: 200, ready within 8 s."""
    names = [f"{bench.lab.name}-{os.getpid()}-pod{i}" for i in range(NAMESPACES)]
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        alone_seconds, alone = cold_start(bench)
        seconds, beside = cold_start(bench, "--netns", f"{bench.lab.name}-{os.getpid()}-pod*")
        ready = bench.agent.logs("ready", f": {NAMESPACES + 2} devices in {NAMESPACES + 1} network namespaces")
        bench.check(ready, f"{NAMESPACES} namespaces are edited", bench.agent.log())
        # Starts take 3 s there; who is slower at them is so at the rest.
        slower = max(2, alone_seconds / 1.5)
        bench.check(seconds - alone_seconds < NAMESPACES * NAMESPACE_SECONDS * slower,
                    f"ready in {seconds:.1f} s with {NAMESPACES} namespaces, in {alone_seconds:.1f} s alone")
        bench.check(beside - alone < NAMESPACES / 2, "no descriptor is kept for each",
                    f"{alone} alone, {beside} with {NAMESPACES} namespaces")
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)
