# SPDX-License-Identifier: Apache-2.0
"""What `ctxprop profile --off-cpu` costs threads that work on no request, as the kernel counts it
(kernel.bpf_stats_enabled), less what programs read that do nothing at the same places."""
import contextlib
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lab"), str(HERE.parent / "bench")]

import bpf_map  # noqa: E402
from agent import Agent  # noqa: E402
from bpf import Statistics, ids_of, show  # noqa: E402
from clocks import has_clocks  # noqa: E402
from lab import Lab  # noqa: E402
from probes import Probes  # noqa: E402
from sampling import tell  # noqa: E402
from waiting import wait_until  # noqa: E402

HZ, SECONDS = 997, 120
PROGRAMS = ("profile_switch", "profile_wakeup")
ROUNDS, EXCHANGES = 5, 10_000
# The bar, as in the bench; on a slow machine, where a program that does nothing reads more than 48 ns, it may take so
# many times as long as that one.
SWITCH_NS, SWITCH_EMPTIES = 60, 1.25


class OffCpu:
    """`ctxprop profile --off-cpu` of a host."""

    def __init__(self, host, build, *options):
        argv = [f"{build}/ctxprop", "profile", "--off-cpu", "-F", HZ, "-d", f"{SECONDS}s", *options]
        self.process = host.spawn(argv, stdout=subprocess.PIPE, text=True)
        wait_until(lambda: has_clocks(self.process.pid), "the sampler has no clock")

    def programs(self):
        """{name: id} of its programs in the scheduler."""
        return {name: number for number in ids_of(self.process.pid, "prog_id")
                if (name := show("prog", number)["name"]) in PROGRAMS}

    def end(self):
        """What it prints."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[0]
        assert self.process.returncode == 0, self.process.returncode
        return said


@contextlib.contextmanager
def empty_programs(build):
    """{name: id} of programs that do nothing, while this is held."""
    folder, held = Path(f"/sys/fs/bpf/ctxprop-empty-{os.getpid()}"), []
    subprocess.run(["bpftool", "prog", "loadall", f"{build}/profile_empty.o", folder], check=True)
    try:
        programs = {pin.name: bpf_map.open_pin(pin) for pin in folder.iterdir()}
        held += programs.values()
        held += [Probes.attached(program) for program in programs.values()]
        yield {name: struct.unpack_from("I", bpf_map.info(program), 4)[0] for name, program in programs.items()}
    finally:
        for fd in held:
            os.close(fd)
        for pin in folder.iterdir():
            pin.unlink()
        folder.rmdir()


def ping_pong():
    """Two processes without a context that wait for each other, if not each time."""
    (read_there, write_there), (read_here, write_here) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        for _ in range(EXCHANGES):
            os.write(write_here, os.read(read_there, 1))
        os._exit(0)
    for _ in range(EXCHANGES):
        os.write(write_there, b".")
        os.read(read_here, 1)
    os.waitpid(child, 0)
    for fd in read_there, write_there, read_here, write_here:
        os.close(fd)


def run_times(programs):
    """{name: (ns, runs)} since they were loaded."""
    shown = {name: show("prog", number) for name, number in programs.items()}
    return {name: (one.get("run_time_ns", 0), one.get("run_cnt", 0)) for name, one in shown.items()}


def round_of(programs):
    """{name: (ns of a run, runs)} of one round of switches."""
    before = run_times(programs)
    ping_pong()
    spent = {name: (ns - before[name][0], runs - before[name][1]) for name, (ns, runs) in run_times(programs).items()}
    return {name: (ns / max(runs, 1), runs) for name, (ns, runs) in spent.items()}


def measure(build):
    """The rounds."""
    with Lab("offcpu") as lab, Statistics(), empty_programs(build) as empty:
        host = lab.host("host")
        Agent(host, build)
        profiled = OffCpu(host, build)
        wait_until(lambda: len(profiled.programs()) == len(PROGRAMS), f"{PROGRAMS} are not loaded")
        programs = {**profiled.programs(), **empty}
        wait_until(lambda: all(runs for _, runs in run_times(programs).values()), "not all programs run")
        rounds = [round_of(programs) for _ in range(ROUNDS)]
        profiled.end()
    return rounds


def run_cost(build):
    """Is it within its bar in the quietest of some rounds? Returns 1 if not."""
    found, rounds = [], measure(build)
    for name in PROGRAMS:
        empty = name.replace("profile", "empty")
        costs = sorted(one[name][0] - one[empty][0] for one in rounds)
        runs, nothing = min(one[name][1] for one in rounds), min(one[empty][0] for one in rounds)
        print(f"# {name}: {costs[0]:.1f} ns, in the median of {ROUNDS} rounds {costs[ROUNDS // 2]:.1f} ns, "
              f"{runs} runs or more in each; empty {nothing:.1f} ns", flush=True)
        found += [f"{name} takes {costs[0]:.1f} ns"] * (costs[0] > max(SWITCH_NS, SWITCH_EMPTIES * nothing))
        found += [f"{name} ran {runs} times only"] * (runs < EXCHANGES // 5)
    return tell("cost of a switch without context", found)
