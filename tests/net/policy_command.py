# SPDX-License-Identifier: Apache-2.0
"""Policies by `ctxprop`, in a Pair's agent's namespace."""

import cases
from cases import equal
from waiting import wait_until
from worlds import common

PORT = 0x63747870
NOBODY = 65534


def command(world, *argv, user=None, **kw):
    """`ctxprop` in the agent's namespace, as root or as another user: the finished process."""
    who = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"] if user else []
    return world.app.run([*who, f"{cases.BUILD}/ctxprop", *argv], check=False, **kw)


def done(world, *argv, **kw):
    """The output of a command that has to succeed."""
    ended = command(world, *argv, **kw)
    equal((ended.returncode, ended.stderr), (0, ""), f"ctxprop {' '.join(argv)}")
    return ended.stdout


def refused(world, status, *argv, **kw):
    """What a command that has to fail says."""
    ended = command(world, *argv, **kw)
    equal((ended.returncode, ended.stdout), (status, ""), f"ctxprop {' '.join(argv)}")
    return ended.stderr.removeprefix("ctxprop: ").strip()


def restored(world, *lines):
    done(world, "policy", "restore", input="".join(f"{line}\n" for line in lines))


def fresh():
    """The shared Pair without rules or sets."""
    world = common()
    restored(world)
    return world


def says(agent, text):
    """Wait until the agent's log has a text, or an id in brackets."""
    wait_until(lambda: text in agent.said(), lambda: f"{text!r} is not said:\n{agent.said()}")
