# SPDX-License-Identifier: Apache-2.0
"""Real windows, as `ctxprop profile` has taken them: what each has said adds up, and `ctxprop top` shows it."""
import json
import re
import subprocess
import time

from agent import Agent
from command import has_clocks
from lab import Lab
from load import Load
from outputs_tools import Windows, equal
from sampling import ADDRESS, CPU_US, PORT, world as make_world
from waiting import wait_until

HZ, CONNECTIONS, REQUESTS = 499, 2, 12
WINDOWS = 2
# Of what requests have burned; before and behind that they cost a little, too.
COST_FROM, COST_TO = 0.9, 1.2
SERVICE = "profile_burn"


def take(agent, windows, load):
    """A window, while requests are made. Returns the endpoints that it has said."""
    begin_s, file = int(time.time()), windows.world.folder / "taken.pb.gz"
    running = agent.host.spawn([f"{agent.build}/ctxprop", "profile", "-j", "--requests", "-F", HZ, "-d", "120s",
                                "--store", windows.store, "-o", file], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: has_clocks(running.pid), "the sampler has no clock")
    for connection in load.run(CONNECTIONS, REQUESTS):
        connection.close()
    running.send_signal(2)
    said = json.loads(running.communicate(timeout=60)[0])
    file.rename(windows.folder / f"{begin_s}-{int(time.time())}.pb.gz")
    equal(running.returncode, 0, "exit status")
    return mine(said["endpoints"])


def mine(endpoints):
    """{endpoint: row} of those of the server that had requests."""
    return {row["endpoint"]: row for row in endpoints if row.get("service") == SERVICE and "requests" in row}


def summed(rows):
    return tuple(sum(row[key] for row in rows.values()) for key in ("requests", "samples"))


def check_top(windows, known):
    """Every endpoint has the CPU of a request that the windows say, and is sorted by it if that is asked for."""
    argv = [f"{windows.world.build}/ctxprop", "top", "--last", "10m", "--sort", "cpu", "--store", windows.store]
    done = subprocess.run([*argv, "-j"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    told = {f"{row['method']} {row['route']}": row["cpu_ns_per_request"] for row in found if "cpu_ns_per_request" in row}
    equal(told, {name: row["cpu_ns_per_request"] for name, row in known.items() if row["samples"]}, "CPU of requests")
    each = [row.get("cpu_ns_per_request", -1) for row in found]
    equal(each, sorted(each, reverse=True), "order")
    assert all(row["kind"] == "server" for row in found if "cpu_ns_per_request" in row), found
    table = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    head, first = table.splitlines()[:2]
    assert head.split()[5] == "CPU/REQ", head
    assert re.search(rf" [\d.]+ ms +[\d.]+ ms +[\d.]+ ms  {SERVICE}  GET /", first), first


def case_last_real(world):
    """real windows: requests and CPU add up to what was said of each, and to what was burned; top shows it"""
    windows = Windows(world)
    with Lab("outputs") as lab:
        server, client = make_world(lab)
        agent = Agent(server, world.build, "--store", windows.store)
        server.spawn([f"{world.build}/profile_burn", PORT, world.folder / "truth"])
        server.wait_port(PORT)
        load = Load(client, ADDRESS, PORT, CPU_US)
        for connection in load.run(1, 1):  # so that the process is known
            connection.close()
        taken = [summed(take(agent, windows, load)) for _ in range(WINDOWS)]
        said = windows.said("--last", "10m")
        rows = mine(said["endpoints"])
        check_top(windows, rows)
    requests, samples = summed(rows)
    cost = samples * 1e6 / HZ / (requests * CPU_US)
    print(f"{requests} requests in {WINDOWS} windows cost {100 * cost:.1f} % of what they burned")
    equal(said["windows"]["count"], WINDOWS, "windows")
    equal((requests, samples), tuple(map(sum, zip(*taken))), "the sum of what was said of each")
    equal(requests, WINDOWS * CONNECTIONS * REQUESTS, "requests")
    assert COST_FROM <= cost <= COST_TO, cost
    assert all(row["p50_ns"] >= COST_FROM * CPU_US * 1000 for row in rows.values()), rows
