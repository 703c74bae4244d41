# SPDX-License-Identifier: Apache-2.0
"""The file of rules that the daemon reads, and what is left of rules without it."""
import contextlib
import os
import signal
import tempfile
from pathlib import Path

import cases
from cases import case, equal
from lab import Lab
from messages import GET, answered
from policy_command import done, refused, says
from streams import joined
from waiting import wait_until
from worlds import Pair, pair


@contextlib.contextmanager
def policy_file(text):
    with tempfile.NamedTemporaryFile("w+", prefix="ctxprop-policy-") as file:
        def write(new):
            file.seek(0)
            file.truncate()
            file.write(new)
            file.flush()
        write(text)
        yield file.name, write


@case(slow=True)
def file_at_start():
    """The policy file at start and on SIGHUP; a bad line is named, and the old policy stays."""
    with policy_file("policy add prio 1 action skip\n") as (path, write), \
            pair("--policy", path) as world:
        def hup(expected):
            world.agent.process.send_signal(signal.SIGHUP)
            says(world.agent, expected)
        with joined(world.app, world.peer, Pair.PEER) as (c, s):
            answered(c, s, [(GET, b"")], [False])
            write("# better\npolicy add prio 2 action skipp\n")
            hup(f"{path}:2:26: 'skipp': expected inject,")
            says(world.agent, "[policy-kept]")
            equal(done(world, "policy", "save"), "policy add prio 1 dir out action skip\n", "policy")
            answered(c, s, [(GET, b"")], [False])
            write("policy add prio 3 action inject\n")
            hup("[policy-reloaded]")
            equal(done(world, "policy", "save"), "policy add prio 3 dir out action inject\n",
                  "policy")
            answered(c, s, [(GET, b"")])


@case(slow=True)
def file_that_is_wrong():
    """A file that was named and is not there, or wrong at start: no start, no edits."""
    with policy_file("policy add\n") as (path, _), Lab("net") as lab:
        host = lab.host("app")
        for name, expected in ((path, f"{path}:1:8: 'add': 'action ACTION' is missing behind it"),
                               ("/nonexistent", "/nonexistent: No such file or directory")):
            ended = host.run([f"{cases.BUILD}/ctxpropd", "--config", "none", "--policy", name], check=False, timeout=20)
            equal(ended.returncode, 1, "exit status")
            equal(expected in ended.stderr, True, ended.stderr)


@case(slow=True)
def without_the_daemon():
    """Killed, the programs go on by the policy, a new daemon too; another file meets living connections."""
    with pair() as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        done(world, "policy", "add", "action", "skip")
        answered(c, s, [(GET, b"")], [False])
        world.agent.stop(signal.SIGKILL)
        answered(c, s, [(GET, b"")], [False])
        equal(refused(world, 1, "policy")[:45], "no ctxpropd runs in this network namespace; s", "gone")
        world.agent.start()
        answered(c, s, [(GET, b"")], [False])
        done(world, "policy", "flush")
        answered(c, s, [(GET, b"")])
        done(world, "policy", "add", "action", "observe")
        answered(c, s, [(GET, b"")], [False])
        world.agent.stop(signal.SIGKILL)
        with policy_file("policy add action inject\n") as (path, _):
            world.agent.start("--policy", path)
            answered(c, s, [(GET, b"")])


@contextlib.contextmanager
def odd_files():
    """{what the daemon says of it: a path}: files that are no policy."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-odd-") as folder:
        folder = Path(folder)
        os.mkfifo(folder / "fifo")
        os.truncate(os.open(folder / "sparse", os.O_CREAT | os.O_WRONLY), 3 << 30)
        (folder / "secret").write_text("root:$y$hash:19000:0:99999:7:::\nset x\n")
        (folder / "text").write_bytes(b"a\0b")
        yield {"/dev/zero": "not a regular file", folder / "fifo": "not a regular file",
               folder / "sparse": "larger than 1048576 bytes", folder: "not a regular file",
               folder / "secret": ":1:1: expected 'policy add' or 'set NAME add'",
               folder / "text": "not a text", "/proc/self/mem": "Input/output error"}


@case(slow=True)
def odd_files_at_start():
    """A device, a pipe, a file that is huge, or a secret one: no start, at once, and nothing of it is told."""
    with odd_files() as files, Lab("net") as lab:
        host = lab.host("app")
        for path, expected in files.items():
            ended = host.run([f"{cases.BUILD}/ctxpropd", "--config", "none", "--policy", path], check=False, timeout=5)
            equal(ended.returncode, 1, f"exit status with {path}")
            equal((expected in ended.stderr, "hash" in ended.stderr), (True, False), ended.stderr)


@case(slow=True)
def odd_files_on_hangup():
    """The same when the file is read again: the old policy stays, and the daemon goes on."""
    with odd_files() as files, tempfile.TemporaryDirectory() as folder:
        link, good = Path(folder, "policy"), Path(folder, "good")
        good.write_text("policy add prio 1 action skip\n")
        link.symlink_to(good)
        with pair("--policy", link) as world:
            for path, expected in files.items():
                link.unlink()
                link.symlink_to(path)
                before = len(world.agent.said())
                world.agent.process.send_signal(signal.SIGHUP)
                wait_until(lambda before=before: "[policy-kept]" in world.agent.said()[before:],
                           f"{path} is refused", seconds=5)
                said = world.agent.said()[before:]
                equal((expected in said, "hash" in said), (True, False), said)
                equal(done(world, "policy", "save", timeout=5),
                      "policy add prio 1 dir out action skip\n", "policy")
