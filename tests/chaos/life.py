# SPDX-License-Identifier: Apache-2.0
"""The agent comes and goes under live connections: none may notice."""
import dataclasses
import signal
import subprocess
import time

from rig import Rig, agent_reasons
from rows import Row
from score import Result, Table, limits_of, read_summary
from sweep import shorten

# Traffic before each event and after the last one.
PAUSE_SECONDS = 2
LIMIT_SECONDS = 180
MANY = 1_000_000_000
# At some two requests a second and connection: half of the connections outlive an event.
PER_CONNECTION = 15

GOOD = Row("veth", bodies=200_000, connections=1000)
BAD = Row("tap", loss=1, reorder=3, bodies=20_000, connections=1000)
GATEWAY = Row("gateway", loss=1, bodies=20_000, connections=1000)
HTTP2 = Row("tap", loss=1, reorder=3, bodies=20_000, connections=200, streams=3)


def kill(rig):
    """As a crash would: the programs stay and go on."""
    rig.agent.stop(signal.SIGKILL)


def start(rig):
    if rig.agent:
        rig.agent.start()
    else:
        rig.start_agent()


def stop(rig):
    """As systemctl would: no more headers, and what has some goes on."""
    rig.agent.stop()


@dataclasses.dataclass(frozen=True)
class Life:
    """What happens to the agent; `attached`: it is there before the first connection."""
    name: str
    events: tuple
    expect: str
    row: Row = GOOD
    attached: bool = True


# While it is stopped, and where connections are older than it, requests may go without a header.
LIVES = (
    Life("killed and started, twice", (kill, start) * 2, "one"),
    Life("stopped and started", (stop, start), "atmost"),
    Life("started late", (start,), "atmost", attached=False),
    Life("killed and started, bad link", (kill, start), "one", BAD),
    Life("stopped and started, bad link", (stop, start), "atmost", BAD),
    Life("killed and started, HTTP/2", (kill, start), "one", HTTP2),
    Life("stopped and started, HTTP/2", (stop, start), "atmost", HTTP2),
    Life("killed and started, gateway", (kill, start), "one", GATEWAY),
    Life("started late, gateway", (start,), "atmost", GATEWAY, attached=False),
)


def spawn_client(rig, life):
    bodies = [] if life.row.streams else ["--post", "--plain"]
    argv = rig.client_argv(MANY, life.expect, *bodies, "--per-connection", PER_CONNECTION)
    process = rig.client.spawn(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # a moment for the connections, so that the first event meets them all
    time.sleep(PAUSE_SECONDS)
    return process


def after(rig, event):
    """Wait, and compare the agent's work with what the event allows. A complaint or None."""
    before = rig.agent.stats()["injected"]
    time.sleep(PAUSE_SECONDS)
    added = rig.agent.stats()["injected"] - before
    if event is stop and added:
        return f"{added} headers were added after the agent was stopped"
    if event is not stop and not added:
        return f"no header was added after: {event.__name__}"
    return None


def play(rig, life):
    """The client, and the agent's events meanwhile. Returns its CompletedProcess and complaints."""
    process = spawn_client(rig, life)
    complaints = []
    for event in life.events:
        event(rig)
        complaints.append(after(rig, event))
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    done = subprocess.CompletedProcess([], process.returncode, out, err)
    return done, [complaint for complaint in complaints if complaint]


def run_life(build, life, seed):
    with Rig(build, life.row, seed) as rig:
        if life.attached:
            rig.start_agent()
        done, complaints = play(rig, life)
        counts = read_summary(done.stdout)
        counts["retrans"] = rig.retransmissions()
        notes = [shorten(done.stderr), *complaints, f"agent: {agent_reasons(rig.agent)}"]
        status = 2 if complaints else done.returncode
        return Result(life.name, counts, status, "\n".join(notes), limits=limits_of(life.row))


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
