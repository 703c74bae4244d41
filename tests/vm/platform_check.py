# SPDX-License-Identifier: Apache-2.0
"""Does a guest have what the other tests build on? Each line names one thing; exit 1 on a miss."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from lab import Lab  # noqa: E402

# Kernel parts that this project's tests use and that the development kernel may lack.
MODULES = ("veth", "tun", "dummy", "8021q", "ifb", "macvlan", "sch_netem", "sch_ingress", "sch_fq",
           "cls_bpf", "cls_flower", "cls_matchall", "act_csum", "act_mirred", "nf_tables", "tls")
PIN = "/sys/fs/bpf/platform_check"


def call(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout}{done.stderr}".strip())


def bpffs_pins():
    call("bpftool", "map", "create", PIN, "type", "array", "key", "4", "value", "4", "entries", "1",
         "name", "check")
    call("bpftool", "map", "dump", "pinned", PIN)
    Path(PIN).unlink()


def tracefs_lists_events():
    if not Path("/sys/kernel/tracing/events/syscalls").is_dir():
        raise RuntimeError("/sys/kernel/tracing/events/syscalls is missing")


def cgroup2_has_controllers():
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        raise RuntimeError("/sys/fs/cgroup is no cgroup2")


def btf_of_the_kernel():
    if not Path("/sys/kernel/btf/vmlinux").stat().st_size:
        raise RuntimeError("/sys/kernel/btf/vmlinux is empty")


def modules_load():
    call("modprobe", "-a", *MODULES)


def netem_drops_packets():
    """A link on which netem loses all packets, but none before and after it.

    Without the first ping, the last one would wait for the peer's address, which was asked for in
    vain while netem was at work.
    """
    with Lab("platform") as lab:
        a, b = lab.host("a"), lab.host("b")
        device, _ = lab.link(a, b, "10.9.0.1/24", "10.9.0.2/24")
        ping = ["busybox", "ping", "-qc1", "10.9.0.2"]
        a.run([*ping, "-W20"])
        a.run(["tc", "qdisc", "add", "dev", device, "root", "netem", "loss", "100%"])
        if a.run([*ping, "-W1"], check=False).returncode == 0:
            raise RuntimeError("netem loss 100% lost nothing")
        a.run(["tc", "qdisc", "del", "dev", device, "root"])
        a.run([*ping, "-W20"])


def clsact_attaches():
    with Lab("platform") as lab:
        lab.host("a").run(["tc", "qdisc", "add", "dev", "lo", "clsact"])


def writable_places():
    for folder in ("/tmp", "/run", "/var/lib", "/root"):
        (Path(folder) / "platform_check").write_text("x")


CHECKS = (bpffs_pins, tracefs_lists_events, cgroup2_has_controllers, btf_of_the_kernel,
          modules_load, netem_drops_packets, clsact_attaches, writable_places)


def main():
    missed = 0
    for check in CHECKS:
        try:
            check()
            print(f"ok    {check.__name__}")
        except (RuntimeError, OSError) as error:
            missed += 1
            print(f"miss  {check.__name__}: {error}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
