# SPDX-License-Identifier: Apache-2.0
"""Commands in one kernel under QEMU.

The guest sees the host's root read-only under a tmpfs overlay, so that whatever was built on the
host runs in it by the same path. Commands share a boot, one after the other; what one leaves behind
the next one meets. After one that ends the guest, or takes too long, the rest has a boot of its own.
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
import cards

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
# Nor does a kernel end as it boots without a word of why (seen once, after 1.3 s of the guest's time).
EARLY_SECONDS, LAST_WORDS = 10, re.compile(r"panic|Oops|BUG: |general protection|reboot", re.I)
BOOTS = 3
# Stands on the console before what it says during a job.
CONSOLE_MARK = "-- next job"
STAGE2 = Path(__file__).with_name("stage2.sh")

# seconds: of wall clock, for the first one of a boot that included.
Job = namedtuple("Job", "argv seconds")
# status: exit code of the command, None if there is none; trouble: why there is none, or what the
# kernel complained of, None if all is well; output: what the command printed; seconds: of wall
# clock, for the first one of a boot that included.
Result = namedtuple("Result", "status trouble output seconds")


def run(kernel, jobs, live=None):
    """Run `jobs` in `kernel`, in the current folder; yields a Result for each, in order.

    What QEMU breaks is done again, and said. live: binary file that gets the commands' output as it
    comes, or None.
    """
    boots_left = BOOTS
    while jobs:
        boots_left -= 1
        for done, console in run_once(kernel, jobs, live):
            if done.status is None and boots_left and is_broken(done, console):
                print(f"-- {kernel.series} is booted again, QEMU broke it: {done.trouble}",
                      file=sys.stderr, flush=True)
                break
            yield done
            jobs, boots_left = jobs[1:], BOOTS


def is_broken(done, console):
    """Was it QEMU that ended the guest?"""
    if EMULATOR_FAULT.search(console):
        return True
    return "ended, before the command started" in done.trouble and done.seconds < EARLY_SECONDS \
        and not LAST_WORDS.search(console)


def run_once(kernel, jobs, live):
    """As run(), with one boot, up to the job in which the guest comes to its end.

    Yields what the console says with each Result.
    """
    with tempfile.TemporaryDirectory(prefix="ctxprop-vm-") as folder:
        scratch = Path(folder)
        share = prepare_share(scratch, jobs)
        archive = initramfs.build(kernel, scratch)
        argv = qemu_argv(kernel, archive, share, scratch)
        with (scratch / "qemu").open("wb") as said:
            qemu = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            for number, job in enumerate(jobs):
                started = time.monotonic()
                in_time = follow(qemu, share, number, started + job.seconds, live)
                done = result(scratch, number, time.monotonic() - started,
                              None if in_time else job.seconds)
                yield done, text(scratch / "console")
                if done.status is None:
                    return
        finally:
            qemu.kill()
            qemu.wait()


def prepare_share(scratch, jobs):
    share = scratch / "share"
    share.mkdir()
    shutil.copy(STAGE2, share / "stage2")
    for number, job in enumerate(jobs):
        (share / f"job{number}").write_text(
            f"cd {shlex.quote(os.getcwd())} || exit\nexec {shlex.join(job.argv)}\n")
    return share


def qemu_argv(kernel, archive, share, scratch):
    return cards.wired([
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
    ])


def share_argv(tag, path, options):
    return ["-fsdev", f"local,id={tag},path={path},security_model=none{options}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def follow(qemu, share, number, deadline, live):
    """Copy a job's output until it ends, or QEMU does; False if the deadline came first."""
    output, status, offset = share / f"output{number}", share / f"status{number}", 0
    while True:
        over = qemu.poll() is not None or text(status).strip()
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


def result(scratch, number, seconds, timed_out_after):
    share, console = scratch / "share", text(scratch / "console")
    output, status = text(share / f"output{number}"), text(share / f"status{number}").strip()
    if status:
        return Result(int(status), complaint(during(console, number)), output, seconds)
    how = f"killed after {timed_out_after} s" if timed_out_after else "the guest ended"
    started = (share / f"started{number}").exists()
    where = "in the command" if started else "before the command started"
    notes = note("qemu", text(scratch / "qemu")) + note("console", during(console, number))
    return Result(None, f"{how}, {where}{notes}", output, seconds)


def during(console, number):
    """What the console said during a job; what it said at boot counts for the first one."""
    parts = console.split(CONSOLE_MARK)
    return "".join(parts[:2]) if number == 0 else "".join(parts[number + 1:])


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
