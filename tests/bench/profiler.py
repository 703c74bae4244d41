# SPDX-License-Identifier: Apache-2.0
"""`ctxprop profile` while the bench runs, and the clocks of the CPUs by which it takes samples: the bench stops and
starts them from outside, which takes microseconds, and reads what the kernel counts of the sampler."""
import fcntl
import json
import os
import signal
import struct
import subprocess
import time

import bpf_map
from bpf import ids_of, show
from bpf_map import LIBC, bpf
from waiting import wait_until

PIDFD_GETFD = 438  # system call
CLOCK_ON, CLOCK_OFF = 0x2400, 0x2401  # PERF_EVENT_IOC_ENABLE, _DISABLE
PROG_GET_FD_BY_ID = 13
PROG_INFO_SIZE, RUN_TIME_AT = 224, 192  # struct bpf_prog_info: run_time_ns, run_cnt
SAMPLER = "profile_sample"
POLL_SECONDS = 0.0002


class Profiler:
    """Samples from when it is made until end(). `spawn`: as Host.spawn()."""

    def __init__(self, spawn, build, hz, *options, seconds=3600):
        argv = [build / "ctxprop", "profile", "-j", "-F", hz, "-d", f"{seconds}s", *options]
        self.process = spawn(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        wait_until(lambda: len(self.clock_fds()) == os.cpu_count(), "ctxprop profile does not begin to sample")
        time.sleep(0.1)  # the last of them is started, too
        self.clocks = [self.borrowed(fd) for fd in self.clock_fds()]
        self.programs = [bpf(PROG_GET_FD_BY_ID, struct.pack("I", self.program_id()))]

    def descriptors(self):
        """{descriptor: what it is} of the command."""
        folder = f"/proc/{self.process.pid}/fd"
        try:
            return {int(fd): os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)}
        except FileNotFoundError:  # one was closed meanwhile
            return {}

    def clock_fds(self):
        """Its clocks, in the order of the CPUs. Behind these it has events that tell of new code in the kernel."""
        return sorted(fd for fd, what in self.descriptors().items() if "perf_event" in what)[:os.cpu_count()]

    def files(self):
        """The programs and libraries of which it has read what it needs: it keeps them open."""
        return set(self.descriptors().values())

    def borrowed(self, fd):
        """The same event as a descriptor of ours."""
        process = os.pidfd_open(self.process.pid)
        try:
            got = LIBC.syscall(PIDFD_GETFD, process, fd, 0)
        finally:
            os.close(process)
        if got < 0:
            raise RuntimeError("this kernel does not let the bench stop the profiler's clocks: no pidfd_getfd")
        return got

    def program_id(self):
        return next(number for number in ids_of(self.process.pid, "prog_id") if show("prog", number)["name"] == SAMPLER)

    def sample(self, wanted, cpus=None):
        """Have the clocks go, or stand; `cpus`: only those of these CPUs go."""
        for cpu, clock in enumerate(self.clocks):
            fcntl.ioctl(clock, CLOCK_ON if wanted and (cpus is None or cpu in cpus) else CLOCK_OFF, 0)

    def counted(self):
        """(nanoseconds, runs) of the sampler, while Statistics are held."""
        return struct.unpack_from("QQ", bpf_map.info(self.programs[0], PROG_INFO_SIZE), RUN_TIME_AT)

    def single_runs(self, seconds):
        """What single runs of the sampler took, in ns: those that were over before the next one came."""
        end, found = time.monotonic() + seconds, []
        before = self.counted()
        while time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            now = self.counted()
            if now[1] == before[1] + 1:
                found.append(now[0] - before[0])
            before = now
        return found

    def end(self):
        """(its summary, its largest resident memory in MiB)"""
        self.release()
        self.process.send_signal(signal.SIGINT)
        return self.finish()

    def finish(self):
        """The same when its time is over."""
        self.release()
        said = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode:
            raise RuntimeError(f"ctxprop profile ended with {self.process.returncode}")
        return json.loads(said), usage.ru_maxrss / 1024

    def release(self):
        """An event samples for as long as somebody has it."""
        held = self.clocks + self.programs
        self.clocks, self.programs = [], []
        for fd in held:
            os.close(fd)
