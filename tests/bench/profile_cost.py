# SPDX-License-Identifier: Apache-2.0
"""What `ctxprop profile` costs: of a CPU, for a sample, in memory; and whether it loses samples."""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bpf import Statistics
from figures import spread
from loads import SMALL, Client
from programs import busy_programs
from waiting import wait_until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "profile"))
import offcpu_cost  # noqa: E402 (the path is set just above)
from pprof import Profile  # noqa: E402

RATES, LARGEST_RATE = (19, 99), 999
SETTLE_MS = 3000  # the tables of what the load runs are read
# bench_deep's frames: two for each level, burn() and one more, main(), two of libc, _start().
LEVELS, FRAMES = 12, 30
WANTED_NS = 2000  # a thread that is not wanted takes less
SINGLE_RUNS = 200  # less is no distribution
PROGRAMS, AT_A_TIME, RATE_OF_PROGRAMS = 50, 5, 499


class ProfileCost:
    """Measures beside the small GET load of a rig; `short`: seconds instead of minutes."""

    def __init__(self, rig, short, progress):
        self.rig, self.short, self.progress = rig, short, progress
        self.arm = rig.arms["profile"]

    def values(self):
        """{key of a bar: (median, first quartile, third quartile)}"""
        self.arm.ready()
        self.rig.profiler.sample(False)
        found = {}
        for hz in RATES[-1:] if self.short else RATES:
            found |= self.part_of_a_cpu(hz)
        if not self.short:  # times are not judged in the short form
            found |= self.of_a_sample()
        return found | self.lost() | self.memory()

    def client(self):
        return Client(self.rig.build / "bench_load", SMALL, self.arm)

    def part_of_a_cpu(self, hz):
        """Per cent of one CPU: the sampler on all of them, and the command that reads what it tells."""
        self.progress(f"profile at {hz} Hz")
        client, profiler = self.client(), self.rig.profile(hz)
        client.run(SETTLE_MS)
        with Statistics():
            rounds = [self.parts(profiler, client) for _ in range(2 if self.short else 10)]
        profiler.end()
        client.close()
        return {f"profile_{hz}": spread([sampler for sampler, _ in rounds]),
                f"profile_command_{hz}": spread([command for _, command in rounds])}

    def parts(self, profiler, client):
        """(the sampler's, the command's) per cent of one CPU in one round."""
        begin, (ns, _), us = time.monotonic(), profiler.counted(), self.rig.cgroup_profile.usage_us()
        client.run(2000)
        ns, us = profiler.counted()[0] - ns, self.rig.cgroup_profile.usage_us() - us
        seconds = time.monotonic() - begin
        return ns / 1e7 / seconds, us / 1e4 / seconds

    def of_a_sample(self):
        """Microseconds of the sampler for a stack of FRAMES: the median, and what one sample in a hundred exceeds."""
        self.progress(f"samples of {FRAMES} frames")
        deep = self.arm.host.spawn([self.rig.build / "bench_deep", LEVELS], preexec_fn=self.place_deep)
        with tempfile.TemporaryDirectory(prefix="ctxprop-bench-") as folder:
            profiler = self.rig.profile(RATES[1], "-p", deep.pid, "-o", f"{folder}/profile.pb.gz")
            time.sleep(SETTLE_MS / 1000)
            runs = self.single_runs(profiler)
            profiler.end()
            deep.kill()
            check_frames(Profile(f"{folder}/profile.pb.gz"))
        if len(runs) < SINGLE_RUNS:
            raise RuntimeError(f"only {len(runs)} samples of bench_deep were met alone")
        return {"sample": spread(runs), "sample_p99": (runs[len(runs) * 99 // 100],) * 3}

    def place_deep(self):
        """Nothing else has the rig's CPU, if there is another one."""
        self.rig.placed(self.rig.cgroup_apps)()
        if os.cpu_count() > 1:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    def single_runs(self, profiler):
        """Microseconds of samples on the rig's CPU, sorted; this process watches from another one."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, before - {self.rig.cpu} or before)
        profiler.sample(True, {self.rig.cpu})
        with Statistics():
            found = profiler.single_runs(60)
        os.sched_setaffinity(0, before)
        return sorted(ns / 1000 for ns in found if ns >= WANTED_NS)

    def lost(self):
        """How many samples find no room at the highest rate."""
        seconds = 10 if self.short else 60
        self.progress(f"profile at {LARGEST_RATE} Hz for {seconds} s")
        client, profiler = self.client(), self.rig.profile(LARGEST_RATE, seconds=seconds)
        client.run(seconds * 1000)
        summary, _ = profiler.finish()
        client.close()
        if summary["samples"] < LARGEST_RATE * seconds / 2:
            raise RuntimeError(f"{summary['samples']} samples in {seconds} s at {LARGEST_RATE} Hz of a busy CPU")
        return {"profile_lost": (summary["samples_lost"],) * 3}

    def memory(self):
        """MiB resident at most, with the tables of many programs."""
        self.progress(f"profile of {PROGRAMS} programs")
        programs = busy_programs(PROGRAMS)
        if len(programs) < PROGRAMS:
            self.rig.missing["profile, memory"] = f"{len(programs)} of {PROGRAMS} different programs are installed"
            return {}
        profiler, files = self.rig.profile(RATE_OF_PROGRAMS), list(programs)
        for first in range(0, PROGRAMS, AT_A_TIME):
            some = files[first:first + AT_A_TIME]
            self.run_until_read(profiler, {file: programs[file] for file in some})
        _, mib = profiler.end()
        return {"profile_memory": (mib,) * 3}

    def run_until_read(self, profiler, programs):
        """Have some programs run at once until the profiler has their tables."""
        place = self.rig.placed(self.rig.cgroup_apps, pinned=False)
        running = [self.arm.host.spawn(argv, preexec_fn=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL) for argv in programs.values()]
        wait_until(lambda: programs.keys() <= profiler.files(),
                   lambda: f"not read: {programs.keys() - profiler.files()}")
        for process in running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def check_frames(profile):
    """Are most stacks as deep as they should be?"""
    deep = sum(sample.count for sample in profile.samples if len(sample.functions) >= FRAMES)
    samples = sum(sample.count for sample in profile.samples)
    if deep < 0.9 * samples:
        raise RuntimeError(f"{deep} of {samples} samples of bench_deep have {FRAMES} frames")


def off_cpu(build):
    """ns that a switch of a thread without context takes, in the quietest of some rounds; not beside a rig."""
    costs = sorted(one["profile_switch"][0] - one["empty_switch"][0] for one in offcpu_cost.measure(build))
    return {"profile_switch": (costs[0], *spread(costs)[1:])}
