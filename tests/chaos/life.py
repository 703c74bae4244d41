# SPDX-License-Identifier: Apache-2.0
"""The agent comes and goes under live connections: none may notice."""
import dataclasses
import signal
import subprocess
import time

from rig import Rig, agent_reasons
from rows import Row
from score import Result, Table, read_summary
from sweep import shorten

SECONDS = 12
LIMIT_SECONDS = 180
MANY = 1_000_000_000


def kill(rig):
    rig.agent.stop(signal.SIGKILL)


def start(rig):
    if rig.agent:
        rig.agent.start()
    else:
        rig.start_agent()


def stop(rig):
    rig.agent.stop()


@dataclasses.dataclass(frozen=True)
class Life:
    """What happens to the agent, and when (seconds after the client's start)."""
    name: str
    events: tuple
    expect: str
    attached: bool = True
    row: Row = Row("veth", bodies=200_000, connections=1000)


# While it is stopped, or where connections are older than it, requests may go without a header.
LIVES = (
    Life("killed", ((4, kill),), "one"),
    Life("killed and started again", ((3, kill), (6, start)), "one"),
    Life("killed and started, thrice", ((2, kill), (3, start), (5, kill), (6, start),
                                        (8, kill), (9, start)), "one"),
    Life("stopped", ((5, stop),), "atmost"),
    Life("stopped and started again", ((3, stop), (6, start)), "atmost"),
    Life("started late", ((4, start),), "atmost", attached=False),
    Life("killed and started, bad link", ((3, kill), (6, start)), "one",
         row=Row("tap", loss=1, reorder=3, bodies=20_000, connections=1000)),
    Life("stopped and started, bad link", ((3, stop), (6, start)), "atmost",
         row=Row("tap", loss=1, reorder=3, bodies=20_000, connections=1000)),
    Life("killed and started, gateway", ((3, kill), (6, start)), "one",
         row=Row("gateway", loss=1, bodies=20_000, connections=1000)),
)


def client_argv(rig, life):
    return rig.client.argv(rig.client_argv(MANY, life.expect, "--post", "--plain", "--seconds", SECONDS,
                                           "--per-connection", 100, "--stuck", 40))


def play(rig, life):
    """The client, and the agent's events meanwhile. Returns the client's CompletedProcess."""
    began = time.monotonic()
    process = subprocess.Popen(client_argv(rig, life), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    rig.lab.processes.append(process)
    for at, event in life.events:
        time.sleep(max(0, began + at - time.monotonic()))
        event(rig)
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    return subprocess.CompletedProcess([], process.returncode, out, err)


def run_life(build, life, seed):
    with Rig(build, life.row, seed) as rig:
        if life.attached:
            rig.start_agent()
        done = play(rig, life)
        counts = read_summary(done.stdout)
        counts["retrans"] = rig.retransmissions()
        notes = f"{shorten(done.stderr)}\nagent: {agent_reasons(rig.agent)}"
        status = done.returncode
        if not counts.get("injected"):
            status, notes = 1, notes + "\nnot one header was added"
        return Result(life.name, counts, status, notes)


def try_life(build, life, seed):
    try:
        return run_life(build, life, seed)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return Result(life.name, {}, 1, str(error))


def run(build, seed, only):
    """All lives. Returns the exit status."""
    table = Table(max(len(life.name) for life in LIVES) + 1)
    table.head()
    for life in LIVES:
        if only in life.name:
            table.add(try_life(build, life, seed))
    return table.foot()
