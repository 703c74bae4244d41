# SPDX-License-Identifier: Apache-2.0
"""The tables of the agent, when all of them are full, and where memory is limited."""
import contextlib
import itertools
import json
import re
import signal
import struct
from pathlib import Path

import bpf_map
from cases import Skip, case, equal
from lab import BPFFS
from memory_cgroup import MemoryCgroup
from messages import GET, answered
from streams import joined
from worlds import Pair, pair

MOST_MIB = 128
LIMIT_MIB = 96
FLOWS, FLOWS_LIMITED = 32768, 8192
HASH, NO_PREALLOC = 1, 1


@contextlib.contextmanager
def limited(limit_mib=None):
    """A Pair whose agent has a cgroup for itself: both of them."""
    try:
        made = MemoryCgroup(limit_mib)
    except OSError as error:
        raise Skip(f"no cgroup with memory can be made: {error}") from None
    with made as memory, pair(agent=False) as world:
        with memory.inside():
            world.start_agent()
        yield world, memory


def told(world):
    """What doctor says of the tables: MiB that they take now, and when all are full."""
    findings = json.loads(world.agent.command("doctor", "--json", check=False))
    text = next(f["text"] for f in findings if f["what"] == "memory")
    return [float(number) for number in re.findall(r"([\d.]+) MiB", text)][:2]


def tables():
    """Paths of all maps that are pinned."""
    return [*Path(BPFFS).glob("ctxprop/*/v*/maps/*"), *Path(BPFFS).glob("otel/*")]


def fill(path):
    """Fill a table whose entries are made one by one; gives the keys that were made."""
    with bpf_map.Map(path) as table:
        if table.type != HASH or not table.flags & NO_PREALLOC:
            return []
        value, made = bytes(table.value_size), []
        for number in itertools.count(1 << 23):  # no process has such a number
            key = struct.pack("Q", number)[:table.key_size].ljust(table.key_size, b"\0")
            try:
                table.set(key, value)
            except OSError:
                return made  # it is full
            made.append(key)


def fill_all():
    return {path.name: fill(path) for path in tables()}


def has_room_for(world, flows):
    with bpf_map.Map(next(Path(BPFFS).glob("ctxprop/*/v*/maps/flows"))) as table:
        equal(table.max_entries, flows, "room in the flow table")
    said = json.loads(world.agent.command("doctor", "--json", check=False))
    assert any(f"of {flows} flows" in f["text"] for f in said if f["what"] == "flow table"), said


def empty(name, keys):
    with bpf_map.Map(next(Path(BPFFS).glob(f"ctxprop/*/v*/maps/{name}"))) as table:
        for key in keys:
            table.delete(key)


@case(slow=True)
def worst_case():
    """All tables full take at most 128 MiB, doctor says so before, and the kernel agrees"""
    with limited() as (world, memory):
        now, most = told(world)
        if not 0 < now < most <= MOST_MIB:
            raise AssertionError(f"doctor: {now} MiB now, {most} MiB at most")
        has_room_for(world, FLOWS)
        world.agent.wait_logged("probes-loaded")  # which take memory, too
        before = memory.kernel_memory()
        equal(len(fill_all()["flows"]), FLOWS, "flows that the table has taken")
        grown = (memory.kernel_memory() - before) / (1 << 20)
        # With what is kept free for each processor; and the kernel's own note of each entry.
        if not 0.9 * (most - now) < grown < 1.05 * (most - now):
            raise AssertionError(f"grown by {grown:.1f} MiB, doctor: from {now} to {most} MiB")
        if told(world)[0] > told(world)[1]:
            raise AssertionError(f"doctor: {told(world)}")


def injects(world):
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])


@case(slow=True)
def small_limit():
    """A cgroup of 96 MiB: smaller tables; full, and over a restart, nobody is killed"""
    with limited(LIMIT_MIB) as (world, memory):
        assert world.agent.logged("memory-limited", " 1/4 "), world.agent.said()
        has_room_for(world, FLOWS_LIMITED)
        _, most = told(world)
        if most > LIMIT_MIB / 2:
            raise AssertionError(f"tables may take {most} MiB of {LIMIT_MIB}")
        injects(world)
        filled = fill_all()
        world.agent.stats()
        world.agent.stop(signal.SIGKILL)
        with memory.inside():
            world.agent.start()
        assert world.agent.logged("tables-adopted"), world.agent.said()
        equal(told(world)[1], most, "MiB at most after the restart")
        empty("flows", filled["flows"])
        injects(world)
        equal((world.agent.process.poll(), memory.killed()), (None, 0), "kills")


@case(seconds=240, slow=True)
def limit_changes():
    """Pinned tables keep their size whatever the limit is by then, and it is said"""
    with pair("--memory", "96") as world:
        has_room_for(world, FLOWS_LIMITED)
        world.agent.stop(signal.SIGKILL)
        world.agent.options = ()
        world.agent.start()
        said = world.agent.said()
        assert world.agent.logged("tables-adopted", " 8192 flows"), said
        assert world.agent.logged("tables-kept", " 1/4 ", " smaller "), said
        has_room_for(world, FLOWS_LIMITED)
        injects(world)
        world.agent.stop()
        world.agent.command("detach", "--force")
        world.agent.start()
        has_room_for(world, FLOWS)
        injects(world)
