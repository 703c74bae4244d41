# SPDX-License-Identifier: Apache-2.0
"""Real windows, as `ctxprop profile` has taken them: what each has said adds up, and `ctxprop top` shows it."""
import json
import os
import pty
import re
import subprocess
import time

import made
from agent import Agent
from clocks import has_clocks
from lab import Lab
from load import Load
from outputs_tools import Windows, equal
from sampling import ADDRESS, CPU_US, PORT, world as make_world
from waiting import wait_until

HZ, CONNECTIONS, REQUESTS = 499, 2, 12
WINDOWS = 2
# Of what requests have burned; before and behind that they cost a little, too.
COST_FROM, COST_TO = 0.9, 1.2
CPUS_ROUNDED = 1e-6  # the last digit that is shown
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


def check_top(windows, known, duration_ns):
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
    equal(head.split()[5:7], ["CPU/REQ", "CPU"], "columns")
    assert re.search(rf" [\d.]+ m?s +[\d.]+ m?s +[\d.]+ m?s +[\d.]+%  {SERVICE}  GET /", first), first
    cpus = {f"{row['method']} {row['route']}": row["cpus"] for row in found if "cpus" in row}
    wanted = {name: row["cpu_ns"] / duration_ns for name, row in known.items() if row["samples"]}
    equal(cpus.keys(), wanted.keys(), "endpoints with CPUs")
    equal([name for name in cpus if abs(cpus[name] - wanted[name]) > CPUS_ROUNDED], [], f"CPUs: {cpus} instead of {wanted}")


def check_none(windows):
    """What belongs to no request is one row below all others, also where there are more of them than are wanted."""
    windows.add(5, stacks=(made.Stack(100, ("main",), {"endpoint": "(no request)"}),))
    share = 100 * 100 * made.PERIOD_NS / windows.said("--last", "10m")["duration_ns"]
    argv = [f"{windows.world.build}/ctxprop", "top", "--last", "10m", "-n", "1", "--store", windows.store]
    lines = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    equal((len(lines), lines[-1].split()), (3, [*"-----", f"{share:.1f}%", "(no", "request)"]), "the last row")


def check_terminal(windows):
    """The key c sorts by it, at once."""
    far, near = pty.openpty()
    argv = [f"{windows.world.build}/ctxprop", "top", "--last", "10m", "--store", windows.store]
    with subprocess.Popen(argv, stdin=near, stdout=near, env={**os.environ, "TERM": "xterm"}) as process:
        wait_until(lambda: ", by rate" in os.read(far, 65536).decode(), "it shows nothing")
        os.write(far, b"c")
        wait_until(lambda: ", by cpu" in os.read(far, 65536).decode(), "the key c does nothing")
        os.write(far, b"q")
        equal(process.wait(timeout=30), 0, "exit status")
    os.close(near)
    os.close(far)


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
        check_top(windows, rows, said["duration_ns"])
        check_terminal(windows)
        check_none(windows)
    requests, samples = summed(rows)
    cost = samples * 1e6 / HZ / (requests * CPU_US)
    print(f"{requests} requests in {WINDOWS} windows cost {100 * cost:.1f} % of what they burned")
    equal(said["windows"]["count"], WINDOWS, "windows")
    equal((requests, samples), tuple(map(sum, zip(*taken))), "the sum of what was said of each")
    equal(requests, WINDOWS * CONNECTIONS * REQUESTS, "requests")
    assert COST_FROM <= cost <= COST_TO, cost
    assert all(row["p50_ns"] >= COST_FROM * CPU_US * 1000 for row in rows.values()), rows
