# SPDX-License-Identifier: Apache-2.0
"""One boot of one kernel under QEMU, for one command.

The guest sees the host's root read-only under a tmpfs overlay, so that whatever was built on the
host runs in it by the same path.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

import initramfs

QEMU = "qemu-system-x86_64"
MEMORY_MIB = 1024
CPUS = 2
# Shown of the console: a whole kernel oops.
TRACE_LINES = 60
# What a kernel says when something in it went wrong, be the command pleased or not.
COMPLAINTS = re.compile(r"WARNING: |BUG: |Oops|general protection|hw csum failure|refcount_t:")
# What no kernel does by itself: QEMU runs a breakpoint that a kernel had set for a moment, to change
# its own code, after it was gone (seen with QEMU 7.2, mostly at boot, when the host is busy).
EMULATOR_FAULT = re.compile(r"Oops: int3")
BOOTS = 3
STAGE2 = Path(__file__).with_name("stage2.sh")

# status: exit code of the command, None if there is none; trouble: why there is none, or what the
# kernel complained of, None if all is well; output: what the command printed; seconds: from QEMU's
# start to its end.
Result = namedtuple("Result", "status trouble output seconds")


def run(kernel, argv, timeout, live=None):
    """Boot `kernel`, run `argv` in the current folder, switch off; returns a Result.

    What QEMU breaks is done again, and said. timeout: seconds of wall clock for each boot, which is
    included; QEMU is killed then. live: binary file that gets the command's output as it comes, or
    None.
    """
    for boots_left in reversed(range(BOOTS)):
        done, console = run_once(kernel, argv, timeout, live)
        if done.status is not None or not boots_left or not EMULATOR_FAULT.search(console):
            break
        print(f"-- {kernel.series} is booted again, QEMU broke it: {done.trouble}", file=sys.stderr,
              flush=True)
    return done


def run_once(kernel, argv, timeout, live):
    """As run(), with one boot; returns the Result, and what the console says."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-vm-") as folder:
        scratch = Path(folder)
        share = prepare_share(scratch, argv)
        archive = initramfs.build(kernel, scratch)
        argv = qemu_argv(kernel, archive, share, scratch)
        started = time.monotonic()
        with (scratch / "qemu").open("wb") as said:
            qemu = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            in_time = follow(qemu, share / "output", started + timeout, live)
        finally:
            qemu.kill()
            qemu.wait()
        done = result(scratch, time.monotonic() - started, None if in_time else timeout)
        return done, text(scratch / "console")


def prepare_share(scratch, argv):
    share = scratch / "share"
    share.mkdir()
    shutil.copy(STAGE2, share / "stage2")
    (share / "job").write_text(f"cd {shlex.quote(os.getcwd())} || exit\nexec {shlex.join(argv)}\n")
    return share


def qemu_argv(kernel, archive, share, scratch):
    return [
        QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max",
        "-smp", str(CPUS), "-m", str(MEMORY_MIB),
        "-kernel", str(kernel.vmlinux), "-initrd", str(archive),
        # A guest that panics reboots, which -no-reboot turns into an end.
        "-append", "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off audit=0",
        "-serial", f"file:{scratch / 'console'}",
        *share_argv("host", "/", ",readonly=on,multidevs=remap"),
        *share_argv("modules", kernel.modules / "lib/modules", ",readonly=on"),
        *share_argv("out", share, ""),
    ]


def share_argv(tag, path, options):
    return ["-fsdev", f"local,id={tag},path={path},security_model=none{options}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def follow(qemu, output, deadline, live):
    """Copy the guest's output until QEMU ends; False if the deadline came first."""
    offset = 0
    while True:
        over = qemu.poll() is not None
        if live and output.exists():
            offset += copy_from(output, offset, live)
        if over:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)


def copy_from(path, offset, live):
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    live.write(data)
    live.flush()
    return len(data)


def result(scratch, seconds, timed_out_after):
    share = scratch / "share"
    output, console = text(share / "output"), text(scratch / "console")
    status = text(share / "status").strip()
    if status:
        return Result(int(status), complaint(console), output, seconds)
    how = f"killed after {timed_out_after} s" if timed_out_after else "the guest ended"
    where = "in the command" if (share / "started").exists() else "before the command started"
    notes = note("qemu", text(scratch / "qemu")) + note("console", console)
    return Result(None, f"{how}, {where}{notes}", output, seconds)


def note(name, said):
    """The end of a text under its name; nothing for an empty one."""
    return f"\n-- {name}:\n{tail(said, TRACE_LINES)}" if said.strip() else ""


def text(path):
    return path.read_text(errors="replace") if path.exists() else ""


def complaint(console):
    """What the kernel complained of first, or None."""
    found = COMPLAINTS.search(console)
    if not found:
        return None
    trace = console[found.start():].splitlines()[:TRACE_LINES]
    return "the kernel complained:\n" + "\n".join(trace)


def tail(said, lines):
    """The last lines of a text."""
    return "\n".join(said.rstrip().splitlines()[-lines:])


def missing_programs():
    """Names of Debian packages that a guest needs and that are not installed."""
    needs = {QEMU: "qemu-system-x86", "cpio": "cpio", "busybox": "busybox-static", "zstd": "zstd",
             "depmod": "kmod"}
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [package for program, package in needs.items() if not shutil.which(program, path=path)]
