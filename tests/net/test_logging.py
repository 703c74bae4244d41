# SPDX-License-Identifier: Apache-2.0
"""The log, where nobody reads it; and descriptors that the caller has closed."""
import contextlib
import fcntl
import os
import pty
import signal
import socket
import tty

import cases
from cases import case, equal
from policy_command import command
from waiting import wait_until
from worlds import pair


def open_pipe():
    return os.pipe()


def open_socket():
    """As a journal reads it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return ours.detach(), theirs.detach()


def open_terminal():
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    return ours, theirs


def fill(fd):
    """Write until there is no room."""
    os.set_blocking(fd, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(fd, b"." * 4096)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(fd, b".")
    os.set_blocking(fd, True)


def drain(fd):
    """All that can be read now."""
    os.set_blocking(fd, False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(fd, 65536):
            data += piece
    return data.decode().lstrip(".")


def unread(open_both):
    with pair(agent=False) as world:
        ours, theirs = open_both()
        fill(theirs)
        daemon = world.app.spawn([f"{cases.BUILD}/ctxpropd", "--config", "none", "--store", "none", "--http", "none"],
                                 stderr=theirs)
        wait_until(lambda: command(world, "policy").returncode == 0, "the daemon answers", seconds=60)
        for _ in range(50):
            daemon.send_signal(signal.SIGHUP)
            equal(command(world, "policy", timeout=5).returncode, 0, "the daemon answers")
        # Others write there, too.
        equal(fcntl.fcntl(theirs, fcntl.F_GETFL) & os.O_NONBLOCK, 0, "stderr still blocks")
        drain(ours)
        daemon.send_signal(signal.SIGHUP)
        said = []
        wait_until(lambda: said.append(drain(ours)) or "[policy-reloaded]" in "".join(said),
                   lambda: f"somebody reads again: {said}", seconds=5)
        equal("[log-lines-lost]" in "".join(said), True, said)
        fill(theirs)
        daemon.send_signal(signal.SIGTERM)
        equal(daemon.wait(timeout=5), 0, "exit status")
        os.close(ours)
        os.close(theirs)
        world.app.run([f"{cases.BUILD}/ctxprop", "detach", "--force"], check=False)


@case(slow=True)
def pipe_that_nobody_reads():
    """A pipe: the daemon starts, answers and ends; what was lost is counted and said."""
    unread(open_pipe)


@case(slow=True)
def socket_that_nobody_reads():
    """A socket, as of a journal: the same."""
    unread(open_socket)


@case(slow=True)
def terminal_that_nobody_reads():
    """A terminal that is held: the same."""
    unread(open_terminal)


def opened(process):
    return [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)]


@case(slow=True)
def closed_descriptors():
    """Started without descriptors 0 to 2: no other file gets such a number."""
    with pair(agent=False) as world:
        for program in ("ctxpropd", "ctxprop monitor"):
            process = world.app.spawn(["sh", "-c", f"exec {cases.BUILD}/{program} <&- >&- 2>&-"])
            if program == "ctxpropd":
                wait_until(lambda: command(world, "policy").returncode == 0, "the daemon answers",
                           seconds=60)
                daemon = process
            else:
                wait_until(lambda: "ctxprop/" in world.app.run(["ss", "-Hf", "netlink"]).stdout,
                           "the monitor listens")
            equal(opened(process), ["/dev/null"] * 3, program)
        process.kill()
        daemon.terminate()
        daemon.wait(timeout=15)
        world.app.run([f"{cases.BUILD}/ctxprop", "detach", "--force"], check=False)
