# SPDX-License-Identifier: Apache-2.0
"""Daemons end, are killed, and others come: what stays, what is taken over, what goes."""
import json
import pathlib
import struct
import subprocess
import threading
import time

import pinned
import traffic
from bench import HOOKS, check_nothing_left
from daemon import Agent, wait_for


def case_restart(bench):
    """kill -9 leaves everything; the next daemon adopts it."""
    bench.start()
    maps, links, programs = pinned.map_ids(bench.node), pinned.link_ids(bench.node), bench.all_programs()
    bench.agent.kill()
    bench.check(bench.all_programs() == programs, "kill -9 leaves the programs attached")
    bench.check(pinned.paused(pinned.layer(bench.node)) == 0, "and editing on")
    bench.start()
    bench.check(bench.agent.logs("tables-adopted", seconds=0), "the next daemon adopts the maps", bench.agent.log())
    bench.check(pinned.map_ids(bench.node) == maps, "the maps are the same")
    bench.check(pinned.link_ids(bench.node) == links, "the links are the same")
    after = bench.all_programs()
    bench.check(after == programs, "and so are the programs, which are of this build", after)
    bench.agent.kill()
    bench.node.run(["ip", "link", "del", "eth0"])
    bench.start()
    left = [path.name for path in (pinned.layer(bench.node) / "links").iterdir()]
    bench.check(len(left) == (2 if bench.way == "tcx" else 0),
                "pins of a device that went meanwhile are dropped", left)


def case_gap(bench):
    """A connection is used without a pause while daemons die and start."""
    bench.start()
    server = traffic.serve(bench.node)
    client = traffic.Client(bench.node, server)
    counts, problem, done = [], [], threading.Event()

    def work():
        try:
            while not done.is_set():
                counts.append(client.request())
        except Exception as e:  # noqa: BLE001
            problem.append(repr(e))

    thread = threading.Thread(target=work)
    thread.start()
    marks = [0]
    for _ in range(2):
        bench.agent.kill()
        bench.start()
        wait_for(lambda: len(counts) > marks[-1] or problem)
        marks.append(len(counts))
    done.set()
    thread.join()
    bench.check(not problem and marks == sorted(set(marks)), "two restarts break no request",
                f"{problem} after {marks}")
    bench.check(set(counts) == {1}, "each request has one header",
                {n: counts.count(n) for n in set(counts)})
    client.close()
    server.shutdown()


def case_stop(bench):
    """SIGTERM stops editing and nothing else; detach takes the rest."""
    bench.start()
    server = traffic.serve(bench.node)
    client = traffic.Client(bench.node, server)
    edited = [client.request() for _ in range(3)]
    bench.check(edited == [1, 1, 1], "requests are edited", edited)
    listed = json.loads(bench.agent.ctxprop("flows", "-j").stdout)
    mine = [f for f in listed if f["sport"] == client.tuple()[0][1]]
    bench.check(len(mine) == 1 and mine[0]["state"] == "http" and mine[0]["requests"] == 3 and
                mine[0]["injected"] == 3 and mine[0]["offset"] > 0, "flows -j shows them", listed)
    text = bench.agent.ctxprop("flows").stdout
    bench.check(f"127.0.0.1:{client.tuple()[0][1]}" in text, "flows shows them", text)
    stats = json.loads(bench.agent.ctxprop("stats", "-j").stdout)
    bench.check(stats["requests"]["injected"] == 3, "stats -j counts them", stats)
    short, long = (bench.agent.ctxprop("stats", *o).stdout for o in ((), ("-s",)))
    bench.check("injected" in short and "present" not in short and "present" in long,
                "stats hides zeros, -s shows them", short)
    bench.check(bench.agent.ctxprop("pause").returncode == 0 and client.request() == 0,
                "pause stops editing")
    bench.check(bench.agent.ctxprop("resume").returncode == 0 and client.request() == 1,
                "resume edits again")
    programs = bench.all_programs()
    bench.check(bench.agent.stop() == 0, "SIGTERM ends with 0")
    bench.check(bench.agent.logs("stopped", "; 1 live connection", seconds=0), "and says what stays",
                bench.agent.log())
    bench.check(pinned.paused(pinned.layer(bench.node)) == 1, "editing is off")
    bench.check(bench.all_programs() == programs, "the programs stay")
    bench.check([client.request() for _ in range(3)] == [0, 0, 0], "the connection goes on")
    refused = bench.agent.ctxprop("detach")
    bench.check(refused.returncode == 1 and "1 live connection" in refused.stderr,
                "detach is refused while it lives", refused.stderr)
    bench.check(bench.all_programs() == programs, "and removes nothing")
    client.close()
    gone = wait_for(lambda: bench.agent.ctxprop("detach").returncode == 0)
    bench.check(gone, "detach works when it is closed")
    check_nothing_left(bench)
    server.shutdown()


def case_force(bench):
    bench.start()
    server = traffic.serve(bench.node)
    client = traffic.Client(bench.node, server)
    client.request()
    bench.agent.kill()
    refused = bench.agent.ctxprop("detach")
    bench.check(refused.returncode == 1 and pinned.paused(pinned.layer(bench.node)) == 0,
                "a refused detach leaves editing on", refused.stderr)
    forced = bench.agent.ctxprop("detach", "--force")
    bench.check(forced.returncode == 0, "detach --force works", forced.stderr)
    check_nothing_left(bench)
    client.close()
    server.shutdown()


def case_layers(bench):
    """Pins of another layout: they go on translating, ours stand around them."""
    bench.start()
    old = bench.all_programs()
    server = traffic.serve(bench.node)
    client = traffic.Client(bench.node, server)
    client.request()
    bench.agent.kill()
    version = pinned.layer(bench.node) / "maps/version"
    subprocess.run(["bpftool", "map", "update", "pinned", version, "key", "0", "0", "0", "0",
                    "value", *map(str, struct.pack("=II", 1, 8))], check=True)
    bench.start()
    aside = pinned.pins(bench.node) / f"{pinned.layer(bench.node).name}-old1"
    bench.check(bench.agent.logs("other-build", seconds=0), "it says so", bench.agent.log())
    bench.check(pinned.paused(aside) == 1 and pinned.paused(pinned.layer(bench.node)) == 0,
                "only the new layer edits")
    for (device, hook), ids in zip(((d, h) for d in ("lo", "eth0") for h in HOOKS), old):
        now = bench.programs(device, hook)
        inner = now[1:] if hook == "in" else now[:1]
        bench.check(len(now) == 2 and inner == ids, f"{device} {hook}: ours on the wire's side", now)
    live = [client.request() for _ in range(3)]
    bench.check(max(live) <= 1, "a connection of the old layer goes on, never with two headers",
                live)
    fresh = traffic.Client(bench.node, server)
    bench.check([fresh.request() for _ in range(2)] == [1, 1], "and so does a new one")
    for connection in (client, fresh):
        connection.close()
    server.shutdown()
    bench.agent.stop()
    refused = bench.agent.ctxprop("detach")
    bench.check(refused.returncode == 1 and "another build" in refused.stderr,
                "detach does not guess about the other layer", refused.stderr)
    bench.check(bench.agent.ctxprop("detach", "--force").returncode == 0, "--force takes both")
    check_nothing_left(bench)


def case_stale(bench):
    """Pins of a namespace that is gone are removed by the next daemon that starts."""
    other = Agent(bench.agent.build, bench.peer)
    other.start("--attach", bench.way)
    left = pinned.pins(bench.peer)
    bench.start()
    bench.check(left.exists(), "a running neighbour's pins stay")
    bench.agent.kill()
    other.kill()
    bench.start()
    bench.check(left.exists(), "those of a living namespace, too")
    bench.agent.kill()
    if bench.way == "clsact":  # without links only a complete view of /proc would tell
        other.close()
        return
    bench.lab.hosts.remove(bench.peer)
    bench.node.run(["ip", "netns", "del", bench.peer.netns])
    wait_for(lambda: not pathlib.Path(f"/run/netns/{bench.peer.netns}").exists())
    time.sleep(0.5)  # the kernel takes a namespace down in the background
    bench.start()
    bench.check(not left.exists(), "those of a namespace that is gone do not", bench.agent.log())
    other.file.close()
