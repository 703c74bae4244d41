# SPDX-License-Identifier: Apache-2.0
"""Which flows the daemon removes from the table."""
import shutil
import socket
import time

import flows
import hooks
import traffic
from daemon import wait_for

NS = 10 ** 9


def case_collect(bench):
    """Dead flows go, living ones with an offset never."""
    if time.monotonic() < 700:
        bench.report.skip(f"{bench.way}: dead flows", "the machine is up for less than 12 minutes")
        return
    server = traffic.serve(bench.node)
    unseen = traffic.Client(bench.node, server)  # from before the daemon: no flow of its own
    unseen.request()
    bench.start("--gc-interval", "1")
    table = flows.Table(bench.node)
    away = ("10.77.0.2", 80)
    young = time.monotonic_ns()
    table.put(("10.77.0.1", 1001), away, seen_ns=1)
    table.put(("10.77.0.1", 1002), away, seen_ns=1, offset=70)
    table.put(("10.77.0.1", 1003), away, seen_ns=young)
    table.put(("10.77.0.1", 1004), away, seen_ns=young, offset=70)
    table.put(("10.77.0.1", 1005), away, seen_ns=1, offset=70, flags=flows.FORWARDED)
    table.put(("10.77.0.1", 1006), away, seen_ns=young - 400 * NS, offset=70)
    table.put(*unseen.tuple(), seen_ns=1, offset=70)
    listening = server.server_address
    table.put(listening, ("127.0.0.1", 1007), seen_ns=1, offset=70)
    bench.check(wait_for(lambda: not table.has(("10.77.0.1", 1001), away)), "idle, no offset: goes")
    bench.check(wait_for(lambda: not table.has(("10.77.0.1", 1002), away)), "idle, no socket: goes")
    bench.check(wait_for(lambda: not table.has(listening, ("127.0.0.1", 1007))),
                "a listening socket is not the connection's")
    time.sleep(2.5)
    for port, why in ((1003, "young, no offset"), (1004, "young, with offset"),
                      (1005, "forwarded, idle for less than 5 days"),
                      (1006, "with offset, idle for 7 minutes")):
        bench.check(table.has(("10.77.0.1", port), away), f"{why}: stays")
    bench.check(table.has(*unseen.tuple()), "idle, but with a socket: stays")
    bench.check(bench.agent.logs("flows-removed", seconds=0), "the log says what went", bench.agent.log())
    unseen.close()
    server.shutdown()


def case_translated(bench):
    """With address translation the socket has another tuple than the packets."""
    rules = """table ip nat {
        chain out {
            type nat hook output priority -100
            ip daddr 10.77.0.9 dnat to 10.77.0.2
        }
        chain post {
            type nat hook postrouting priority 100
            oif "eth0" ip protocol tcp masquerade to :40000-40010
        }
    }"""
    if time.monotonic() < 700 or not shutil.which("nft"):
        bench.report.skip(f"{bench.way}: translated flows", "needs nft and 12 minutes of uptime")
        return
    refused = bench.node.run(["nft", rules], check=False).stderr
    if refused:
        bench.report.skip(f"{bench.way}: translated flows", refused.splitlines()[0])
        return
    with hooks.inside(bench.peer):
        listener = socket.create_server(("10.77.0.2", 8080))
    with hooks.inside(bench.node):
        sock = socket.create_connection(("10.77.0.9", 8080), timeout=5)
    accepted, shown = listener.accept()
    bench.start("--gc-interval", "1")
    table = flows.Table(bench.node)
    table.put(shown, ("10.77.0.2", 8080), seen_ns=1, offset=70)
    table.put(("10.77.0.1", 1002), ("10.77.0.2", 80), seen_ns=1, offset=70)
    wait_for(lambda: not table.has(("10.77.0.1", 1002), ("10.77.0.2", 80)))
    time.sleep(1.5)
    bench.check(sock.getsockname() != shown, "the ports are translated", shown)
    bench.check(table.has(shown, ("10.77.0.2", 8080)), "a translated connection's flow stays")
    for s in (sock, accepted, listener):
        s.close()
