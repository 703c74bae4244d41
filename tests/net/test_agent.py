#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of ctxpropd and the words of ctxprop, in network namespaces of their own. Needs root.

    test_agent.py [--build DIR] [NAME...]      names of cases; all without any

Prints "ok", "not ok" or "skip" per check; exits 1 when one is not ok.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))

import test_agent_daemon as pinned  # noqa: E402
import test_agent_flows as flows  # noqa: E402
import test_agent_hooks as hooks  # noqa: E402
import test_agent_traffic as traffic  # noqa: E402
from lab import Lab  # noqa: E402
from test_agent_daemon import Agent, wait_for  # noqa: E402

HOOKS = ("in", "out")
MEMORY_KIB_MAX = 32 * 1024
IDLE_SECONDS = 3
IDLE_CPU_SECONDS_MAX = 0.03  # one percent
NS = 10 ** 9


class Report:
    def __init__(self):
        self.failed = self.passed = self.skipped = 0

    def check(self, good, what, detail=""):
        self.passed += bool(good)
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} - {what}" +
              (f"\n    {detail}" if not good and detail != "" else ""), flush=True)

    def skip(self, what, why):
        self.skipped += 1
        print(f"skip - {what}: {why}", flush=True)


class Bench:
    """Two hosts with a link; the agent runs on the first."""

    def __init__(self, report, build, way):
        self.report, self.way = report, way
        self.lab = Lab("agent")
        self.node, self.peer = self.lab.host("node"), self.lab.host("peer")
        self.lab.link(self.node, self.peer, "10.77.0.1/24", "10.77.0.2/24")
        self.agent = Agent(build, self.node)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.agent.close()
        self.lab.close()

    def check(self, good, what, detail=""):
        self.report.check(good, f"{self.way}: {what}", detail)

    def start(self, *options):
        self.agent.start("--attach", self.way, *options)

    def programs(self, device, hook):
        """Ids of the BPF programs at a hook, in running order; None for a classic one."""
        if self.way == "tcx":
            return [program for program, _ in hooks.tcx_ids(self.node, device, hook)]
        return [row[2] for row in hooks.clsact_filters(self.node, device, hook)]

    def names(self, device, hook):
        return [hooks.program_name(i) if i else "foreign" for i in self.programs(device, hook)]

    def attached(self, device):
        return all(self.names(device, hook) == [f"ctxprop_{hook}_eth"] for hook in HOOKS)

    def all_programs(self):
        return [self.programs(d, hook) for d in ("lo", "eth0") for hook in HOOKS]


def case_start(bench):
    """What is there is taken, and what is not ours is not touched."""
    bench.start()
    bench.check("ready: 2 devices" in bench.agent.log(), "says ready", bench.agent.log())
    bench.check(f"eth0: attached ({bench.way})" in bench.agent.log(), "says how", bench.agent.log())
    for device in ("lo", "eth0"):
        bench.check(bench.attached(device), f"one program at each hook of {device}",
                    [bench.names(device, hook) for hook in HOOKS])
    peer = [hooks.tcx_ids(bench.peer, "eth0", hook) for hook in HOOKS] if hooks.has_tcx() else []
    peer += [hooks.clsact_filters(bench.peer, "eth0", hook) for hook in HOOKS]
    bench.check(not any(peer), "the other namespace is untouched", peer)
    second = bench.agent.daemon()
    bench.check(second.returncode == 1 and "another ctxpropd" in second.stderr,
                "a second daemon is refused", second.stderr)
    refused = bench.agent.ctxprop("detach")
    bench.check(refused.returncode == 1 and "is running" in refused.stderr,
                "detach is refused while the daemon runs", refused.stderr)
    elsewhere = bench.peer.run([bench.agent.build / "ctxprop", "stats"], check=False)
    bench.check(elsewhere.returncode == 1 and "nothing of ctxpropd is pinned" in elsewhere.stderr,
                "the command says where there is no agent", elsewhere.stderr)
    entered = bench.peer.run([bench.agent.build / "ctxprop", "--netns", bench.node.netns, "stats"],
                             check=False)
    bench.check(entered.returncode == 0, "--netns enters a namespace by name", entered.stderr)


def case_devices(bench):
    """Devices come, go down, come up, and vanish."""
    bench.start()
    run = bench.node.run
    run(["ip", "link", "add", "va", "type", "veth", "peer", "name", "vb"])
    run(["ip", "link", "set", "va", "up"])
    bench.check(bench.agent.says("va: attached"), "a new device is taken", bench.agent.log())
    bench.check(bench.attached("va"), "and has its programs")
    bench.check(not any(bench.programs("vb", hook) for hook in HOOKS), "one that is down is not")
    before = [bench.programs("va", hook) for hook in HOOKS]
    run(["ip", "link", "set", "va", "down"])
    run(["ip", "link", "set", "va", "up"])
    run(["ip", "link", "set", "vb", "up"])
    bench.check(bench.agent.says("vb: attached"), "it is when it comes up", bench.agent.log())
    bench.check([bench.programs("va", hook) for hook in HOOKS] == before,
                "down and up changes nothing")
    run(["ip", "link", "add", "br9", "type", "bridge"])
    run(["ip", "link", "add", "mv9", "link", "eth0", "type", "macvlan"])
    run(["ip", "link", "set", "br9", "up"])
    run(["ip", "link", "set", "mv9", "up"])
    run(["ip", "link", "del", "va"])
    bench.check(bench.agent.says("va: gone") and bench.agent.says("vb: gone"),
                "deleted devices are noticed", bench.agent.log())
    bench.check(not any(bench.programs(d, hook) for d in ("br9", "mv9") for hook in HOOKS),
                "a device above another one is left alone")
    left = sorted(path.name for path in (pinned.layer(bench.node) / "links").iterdir())
    wanted = 4 if bench.way == "tcx" else 0
    bench.check(len(left) == wanted, "no pins of deleted devices stay", left)
    add_tun(bench)
    if bench.way == "clsact":
        run(["tc", "qdisc", "del", "dev", "eth0", "clsact"])
        bench.check(wait_for(lambda: bench.attached("eth0")), "a removed qdisc is replaced",
                    bench.agent.log())


def add_tun(bench):
    """A device without an Ethernet header gets the programs for such."""
    run = bench.node.run
    run(["ip", "tuntap", "add", "mode", "tun", "name", "t0"])
    run(["ip", "link", "set", "t0", "up"])
    bench.agent.says("t0: attached")
    names = [bench.names("t0", hook) for hook in HOOKS]
    bench.check(names == [["ctxprop_in_ip"], ["ctxprop_out_ip"]], "tun has the IP programs", names)


def case_restart(bench):
    """kill -9 leaves everything; the next daemon adopts it."""
    bench.start()
    maps, links, programs = pinned.map_ids(bench.node), pinned.link_ids(bench.node), bench.all_programs()
    bench.agent.kill()
    bench.check(bench.all_programs() == programs, "kill -9 leaves the programs attached")
    bench.check(pinned.paused(pinned.layer(bench.node)) == 0, "and editing on")
    bench.start()
    bench.check("adopted" in bench.agent.log(), "the next daemon adopts the maps", bench.agent.log())
    bench.check(pinned.map_ids(bench.node) == maps, "the maps are the same")
    bench.check(pinned.link_ids(bench.node) == links, "the links are the same")
    after = bench.all_programs()
    bench.check([len(ids) for ids in after] == [1, 1, 1, 1] and
                not set(sum(after, [])) & set(sum(programs, [])), "the programs are new", after)
    old = [p.name for p in (pinned.layer(bench.node) / "progs").iterdir()
           if int(p.name) in sum(programs, [])]
    bench.check(not old, "the old ones are unpinned", old)
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
    bench.check("editing stopped; 1 live flow" in bench.agent.log(), "and says what stays",
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


def check_nothing_left(bench):
    bench.check(not any(bench.all_programs()), "no program stays", bench.all_programs())
    qdiscs = bench.node.run(["tc", "qdisc", "show"]).stdout
    bench.check("clsact" not in qdiscs, "no qdisc stays", qdiscs)
    bench.check(not pinned.pins(bench.node).exists(), "no pin stays")


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


def case_foreign(bench):
    """Programs of others stay where they are, and ours stand on the right side of them."""
    links = []
    if bench.way == "tcx":
        links = [hooks.attach_foreign(bench.node, "eth0", hook) for hook in HOOKS]
    else:
        bench.node.run(["tc", "qdisc", "add", "dev", "eth0", "clsact"])
        for hook in HOOKS:
            hooks.add_foreign_classifier(bench.node, "eth0", hook)
    foreign = {hook: bench.programs("eth0", hook) for hook in HOOKS}
    bench.start()
    bench.check(bench.names("eth0", "in") == ["ctxprop_in_eth", "foreign"], "first on ingress",
                bench.names("eth0", "in"))
    bench.check(bench.names("eth0", "out") == ["foreign", "ctxprop_out_eth"], "last on egress",
                bench.names("eth0", "out"))
    bench.agent.stop()
    bench.check(bench.agent.ctxprop("detach").returncode == 0, "detach beside others")
    bench.check({hook: bench.programs("eth0", hook) for hook in HOOKS} == foreign,
                "theirs stay attached", [bench.names("eth0", hook) for hook in HOOKS])
    for link in links:
        os.close(link)


def case_auto(bench):
    """By itself it takes TCX, but for an egress hook where classifiers of others would come later."""
    if bench.way != "tcx":
        bench.report.skip(f"{bench.way}: auto", "this kernel has no TCX to choose")
        return
    bench.node.run(["tc", "qdisc", "add", "dev", "eth0", "clsact"])
    hooks.add_foreign_classifier(bench.node, "eth0", "out")
    bench.agent.start()
    log = bench.agent.log()
    bench.check("lo: attached (tcx)" in log and "eth0: attached (tcx in, clsact out)" in log,
                "auto", log)
    rows = hooks.clsact_filters(bench.node, "eth0", "out")
    bench.check(len(rows) == 2 and rows[0][2] is None, "behind the classifier of others", rows)
    bench.agent.stop()
    bench.agent.start()
    bench.check("eth0: programs replaced (tcx in, clsact out)" in bench.agent.log(),
                "the next daemon keeps both ways", bench.agent.log())
    bench.agent.stop()
    bench.check(bench.agent.ctxprop("detach").returncode == 0, "detach from both")
    rows = hooks.clsact_filters(bench.node, "eth0", "out")
    bench.check(len(rows) == 1 and rows[0][2] is None, "theirs stays", rows)


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
    bench.check("pinned by another build" in bench.agent.log(), "it says so", bench.agent.log())
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
    bench.check("dead flows" in bench.agent.log(), "the log says what went", bench.agent.log())
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


def case_words(bench):
    """Arguments, rights, help."""
    daemon, command = bench.agent.daemon, bench.agent.ctxprop
    for argv in (["--flows", "x"], ["--flows", "0"], ["--attach", "xdp"], ["--log-level", "loud"],
                 ["--nonsense"], ["more"], ["--gc-interval", "0"]):
        done = daemon(*argv)
        bench.check(done.returncode == 2 and done.stderr, f"ctxpropd {' '.join(argv)}: exit 2",
                    done.stderr)
    for argv in ([], ["bogus"], ["stats", "-x"], ["flows", "more"], ["detach", "--nonsense"]):
        done = command(*argv)
        bench.check(done.returncode == 2 and done.stderr, f"ctxprop {' '.join(argv)}: exit 2",
                    done.stderr)
    for argv in (["--help"], ["--version"], ["stats", "--help"], ["detach", "--help"]):
        done = command(*argv)
        bench.check(done.returncode == 0 and done.stdout, f"ctxprop {' '.join(argv)}", done.stderr)
    for argv in (["--help"], ["--version"]):
        done = daemon(*argv)
        bench.check(done.returncode == 0 and done.stdout, f"ctxpropd {' '.join(argv)}", done.stderr)
    done = command("--netns", "no-such-name", "stats")
    bench.check(done.returncode == 1 and "no-such-name" in done.stderr, "unknown namespace: exit 1")
    done = daemon(user=65534)
    bench.check(done.returncode == 1 and "CAP_BPF CAP_NET_ADMIN" in done.stderr and
                "root" in done.stderr, "without rights: exit 1 and which", done.stderr)
    bench.check(not pinned.pins(bench.node).exists(), "and nothing is left")


def case_frugal(bench):
    """Memory and CPU of an idle daemon; sizes."""
    bench.start("--flows", "1000")
    shown = json.loads(subprocess.run(
        ["bpftool", "-j", "map", "show", "pinned", pinned.layer(bench.node) / "maps/flows"],
        capture_output=True, text=True, check=True).stdout)
    bench.check(shown["max_entries"] == 1000, "--flows sizes the table", shown)
    if bench.agent.is_sanitized():
        bench.report.skip(f"{bench.way}: memory", "a sanitized build needs more")
    else:
        memory = bench.agent.memory_kib()
        bench.check(memory <= MEMORY_KIB_MAX, f"memory {memory} KiB is at most {MEMORY_KIB_MAX}")
    before = bench.agent.cpu_seconds()
    time.sleep(IDLE_SECONDS)
    used = bench.agent.cpu_seconds() - before
    bench.check(used <= IDLE_CPU_SECONDS_MAX, f"{used:.2f} s of CPU in {IDLE_SECONDS} s of idling")


CASES = {name[5:]: f for name, f in globals().items() if name.startswith("case_")}
ONCE = ("auto", "stale", "force", "words", "frugal", "collect", "translated")  # not once more with clsact


def run_case(report, build, name, way):
    try:
        with Bench(report, build, way) as bench:
            CASES[name](bench)
            if bench.agent.process:
                text = bench.agent.log()
                bench.check("Sanitizer" not in text and "runtime error" not in text,
                            f"{name}: no complaint of a sanitizer", text)
    except Exception:  # noqa: BLE001
        report.check(False, f"{way}: {name}", traceback.format_exc())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (default: build)")
    parser.add_argument("names", nargs="*", choices=[[], *CASES], metavar="NAME")
    given = parser.parse_args()
    report = Report()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    if os.geteuid():
        print("skip - everything: needs root")
        return 0
    for way in ("tcx", "clsact"):
        if way == "tcx" and not hooks.has_tcx():
            report.skip("tcx", "this kernel has none")
            continue
        for name in given.names or CASES:
            if way == "clsact" and name in ONCE and hooks.has_tcx():
                continue
            run_case(report, given.build, name, way)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
