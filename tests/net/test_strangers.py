# SPDX-License-Identifier: Apache-2.0
"""Programs of users who mean harm: what they are made of hurts neither the agent nor others."""
import contextlib
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import cases
from agent import Agent
from cases import case, equal
from elf import RELA, Section, address_of, elf, relocation, symbols
from following import WANTED, kind_of, known_as
from lab import Lab
from test_looking import PYTHON, python
from waiting import wait_until

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
PORT = 8090
UNKNOWN = 3  # enum runtime_kind
ANSWER_SECONDS, END_SECONDS, FOUND_SECONDS = 3, 10, 30
MEMORY_MAX_KB = 400 * 1024  # of the agent and what it has started, at any time
ASYNCIO = next(Path("/usr/lib").glob("python3*/lib-dynload/_asyncio.*.so"), None)
# A program that has what Python exports, and so is looked into as one.
PYTHON_PROGRAM = """
import mmap, socket, sys
kept = []
for path in sys.argv[2:]:
    with open(path, "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
print("mapped", flush=True)
sys.stdin.readline()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sys.stdin.readline()
"""


@contextlib.contextmanager
def world():
    """An agent, and a folder that belongs to a user without rights."""
    with Lab("net") as lab, tempfile.TemporaryDirectory() as folder:
        host = lab.host("app")
        host.agent = Agent(host, cases.BUILD)
        os.chmod(folder, 0o755)
        home = Path(folder, "home")
        home.mkdir()
        shutil.chown(home, 65534, 65534)
        yield host, home


@contextlib.contextmanager
def stranger(host, files, program=(f"{cases.BUILD}/net_stranger",), meanwhile=lambda: None):
    """A program without rights that has mapped files; then `meanwhile`; then it listens."""
    own = shutil.copy(program[0], files[0].parent / "program") if len(program) == 1 else program[0]
    process = host.spawn([*NOBODY, own, *program[1:], PORT, *files], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    try:
        equal(process.stdout.readline().strip(), "mapped", "it says")
        meanwhile()
        process.stdin.write("\n")
        process.stdin.flush()
        host.wait_port(PORT)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def write(path, data, size=None):
    path.write_bytes(data)
    if size:
        os.truncate(path, size)
    shutil.chown(path, 65534, 65534)
    return path


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def memory_kb(pid):
    """Memory of its own that a process has, not what it has mapped of files."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def attends(host):
    """The agent answers, and finds out about an honest program; memory stays within limits."""
    begin, most = time.monotonic(), 0
    host.agent.stats()
    took = time.monotonic() - begin
    if took > ANSWER_SECONDS:
        raise AssertionError(f"the agent answered after {took:.1f} s")
    with python(host) as server:
        end = time.monotonic() + FOUND_SECONDS
        while f"process {server.pid} (" not in host.agent.said():
            if time.monotonic() > end:
                raise AssertionError(f"an honest program is not followed:\n{host.agent.said()}")
            pid = host.agent.process.pid
            most = max(most, sum(memory_kb(one) for one in [pid, *children(pid)]))
            time.sleep(0.01)
        equal(known_as(server.pid), PYTHON, "kind of the honest program")
    if most > MEMORY_MAX_KB:
        raise AssertionError(f"the agent took {most} KB")


def ends(host):
    """SIGTERM is heard."""
    host.agent.process.send_signal(signal.SIGTERM)
    host.agent.process.wait(timeout=END_SECONDS)


def is_said(host, process, text):
    """The log says this of the process, once."""
    wanted = f"process {process.pid} ("
    wait_until(lambda: wanted in host.agent.said(), "the log names it", seconds=FOUND_SECONDS)
    lines = [line for line in host.agent.said().splitlines() if wanted in line]
    equal(len(lines), 1, f"lines about it in {lines}")
    equal(text in lines[0], True, f"'{text}' in '{lines[0]}'")


def code_of(process, path):
    """What the process has mapped of a file, as it would run it."""
    for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines():
        span, rights, offset, _, _, name = [*line.split(maxsplit=5), ""][:6]
        if name == str(path) and "x" in rights:
            start, end = (int(part, 16) for part in span.split("-"))
            with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
                memory.seek(start)
                return memory.read(min(end - start, path.stat().st_size - int(offset, 16)))
    raise AssertionError(f"{path} is not mapped as code")


@case(slow=True)
def code_of_others():
    """A deleted library whose name leads to another file by now: that file gets no breakpoint"""
    if not ASYNCIO:
        raise cases.Skip("there is no module _asyncio of /usr/bin/python3")
    with world() as (host, home):
        victim = home.parent / "victim.so"
        shutil.copy(ASYNCIO, victim)
        victim.chmod(0o644)
        bait = write(home / "_asyncio.bait.so", victim.read_bytes())

        def replace():
            bait.unlink()
            Path(f"{bait} (deleted)").symlink_to(victim)

        map_all = ("import mmap, sys, time; file = open(sys.argv[1], 'rb');"
                   "code = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE,"
                   "mmap.PROT_READ | mmap.PROT_EXEC); print('mapped', flush=True); time.sleep(600)")
        user = host.spawn(["/usr/bin/python3", "-c", map_all, victim], stdout=subprocess.PIPE,
                          text=True)
        equal(user.stdout.readline().strip(), "mapped", "the user of the library says")
        with stranger(host, [bait], ("/usr/bin/python3", "-c", PYTHON_PROGRAM), replace) as process:
            wait_until(lambda: f"process {process.pid} (" in host.agent.said(), "it is looked at")
            equal(code_of(user, victim) == victim.read_bytes(), True, "its code is as it was")
            is_said(host, process, "was deleted or replaced since")
        attends(host)


@case(slow=True)
def fifo():
    """A FIFO in place of a deleted library: nobody waits for its writer"""
    with world() as (host, home):
        bait = write(home / "libjvm.so", b"\0" * 4096)

        def replace():
            bait.unlink()
            os.mkfifo(f"{bait} (deleted)")
            shutil.chown(f"{bait} (deleted)", 65534, 65534)

        with stranger(host, [bait], meanwhile=replace):
            attends(host)
            ends(host)


@case(slow=True)
def short_code():
    """Node's libraries with a section of code that is shorter than an instruction"""
    names = {"_ZN4node11Environment9RunTimersEP10uv_timer_s": (64, 4),
             "_ZN4node15LibuvStreamWrap8OnUvReadElPK8uv_buf_t": (64, 4),
             "_ZN4node11Environment14CheckImmediateEP10uv_check_s": (64, 4)}
    loop = {"uv_run": (1 << 40, 4)}  # far behind it
    loop |= {name: (64, 4) for name in ("uv_tcp_init", "uv_tcp_connect", "uv_close")}
    with world() as (host, home):
        node = write(home / "libnode.so", elf([*symbols(names), Section(".text", data=b"\x90" * 4)]))
        libuv = write(home / "libuv.so", elf([*symbols(loop), Section(".text", data=b"\x90" * 4,
                                                                      at=64)]))
        with stranger(host, [node, libuv]):
            attends(host)
            ends(host)


def ruby(more):
    """Sections of a library of Ruby 3.1, and more."""
    version = Section(".data", data=struct.pack("<iii", 3, 1, 0))
    sections = [*symbols({"ruby_api_version": (0, 12)}), version]
    where = address_of(sections, ".data")
    return [*symbols({"ruby_api_version": (where, 12)}), version, *more]


@case(slow=True)
def much_memory():
    """A small file with holes, whose tables are half a gigabyte each: it is not read into memory"""
    size = 1 << 29
    with world() as (host, home):
        tables = [Section(f".rela{i}", RELA, at=4096 + 8 * i + 4, size=size - 8192)
                  for i in range(12)]
        library = write(home / "libruby.so", elf(ruby(tables), file_size=size), size)
        with stranger(host, [library]):
            attends(host)
            ends(host)


@case(slow=True)
def much_time():
    """A module of Python that takes hours to read: it is given up, said once, and not tried again"""
    name = b"\0put"
    with world() as (host, home):
        texts = Section(".rodata", data=name * 200_000 + b"\0")
        relocations = Section(".rela.dyn", RELA, relocation(0, addend=1 << 40) * 300_000)
        module = write(home / "_queue.x.so", elf([texts, relocations]))
        program = ("/usr/bin/python3", "-c", PYTHON_PROGRAM)
        with stranger(host, [module], program) as process:
            attends(host)
            is_said(host, process, "took too much time or memory")
        with stranger(host, [module], program) as process:
            wait_until(lambda: known_as(process.pid) == 3, "it is unknown", seconds=1)
            equal(f"process {process.pid} (" in host.agent.said(), False, "it is said again")
            ends(host)


def silent(host, when, home):
    """A program that runs from a file system whose server does not answer any more, and has mapped libraries of it."""
    own = [home / name for name in ("program", "libruby.so", "libjvm.so", "libnode.so")]
    process = host.spawn([f"{cases.BUILD}/profile_blocked_fs", when, home, f"{cases.BUILD}/net_stranger", own[0], PORT, *own[1:]],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    equal(process.stdout.readline().strip(), "mapped", "it says")
    os.kill(children(process.pid)[0], signal.SIGUSR1)
    process.stdin.write("\n")
    process.stdin.flush()
    host.wait_port(PORT)
    return process


def never_comes(when):
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise cases.Skip("/dev/fuse cannot be used")
    with world() as (host, home):
        process = silent(host, when, home)
        try:
            attends(host)
            equal(kind_of(process.pid) in (None, WANTED, UNKNOWN), True, "what it runs is not known")
            ends(host)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@case
def program_that_never_comes():
    """A program that runs from a file system in user space which takes nothing any more: nobody waits for it"""
    never_comes("signal")


@case
def program_that_is_never_answered():
    """The same where all is taken, and nothing answered: who has asked cannot even be killed"""
    never_comes("swallows")
