# SPDX-License-Identifier: Apache-2.0
"""CPU time and memory, as the kernel accounts them."""
import glob
import os
import time


def cgroup2():
    """Where cgroup v2 is mounted."""
    with open("/proc/mounts", encoding="ascii") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[2] == "cgroup2":
                return fields[1]
    raise RuntimeError("no cgroup v2 is mounted; mount -t cgroup2 none /sys/fs/cgroup/unified")


class Cgroup:
    """A cgroup of ours; gone when closed. Children are closed first."""

    def __init__(self, path):
        self.path, self.children = path, []
        os.mkdir(path)

    def child(self, name):
        made = Cgroup(f"{self.path}/{name}")
        self.children.append(made)
        return made

    def enter(self):
        """Put the calling process into it."""
        with open(f"{self.path}/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(os.getpid()))

    def usage_us(self):
        """CPU time of all processes that are or were in it or below."""
        with open(f"{self.path}/cpu.stat", encoding="ascii") as file:
            return int(file.readline().split()[1])

    def close(self):
        for child in self.children:
            child.close()
        for _ in range(50):
            try:
                os.rmdir(self.path)
                return
            except OSError:  # its last process is not yet reaped
                time.sleep(0.02)


def softirqd_pids():
    """The kernel's softirq threads, one per CPU."""
    pids = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                if file.read().startswith("ksoftirqd/"):
                    pids.append(int(path.split("/")[2]))
        except OSError:  # a process that ended meanwhile
            continue
    return pids


def run_time_us(pid):
    """CPU time of a thread; finer than the ticks of /proc/PID/stat."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1000


def idle_us(cpu):
    """Time that one CPU had nothing to do; in steps of the clock tick of /proc/stat."""
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            fields = line.split()
            if fields[0] == f"cpu{cpu}":
                idle, waiting = int(fields[4]), int(fields[5])
                return (idle + waiting) * 1e6 / os.sysconf("SC_CLK_TCK")
    raise RuntimeError(f"no CPU {cpu} in /proc/stat")


def resident_kib(pid):
    """Resident memory of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    raise RuntimeError(f"process {pid} has no memory: it has ended")
