# SPDX-License-Identifier: Apache-2.0
"""Which devices are taken, how, and on which side of the programs of others."""
import os

import hooks
import pinned
from bench import HOOKS
from daemon import wait_for


def case_start(bench):
    """What is there is taken, and what is not ours is not touched."""
    bench.start()
    bench.check(bench.agent.logs("ready", ": 2 devices", seconds=0), "says ready", bench.agent.log())
    bench.check(bench.agent.logs("device-attached", " eth0: ", f"({bench.way})", seconds=0), "says how", bench.agent.log())
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
    bench.check(bench.agent.logs("device-attached", " va: "), "a new device is taken", bench.agent.log())
    bench.check(bench.attached("va"), "and has its programs")
    bench.check(not any(bench.programs("vb", hook) for hook in HOOKS), "one that is down is not")
    before = [bench.programs("va", hook) for hook in HOOKS]
    run(["ip", "link", "set", "va", "down"])
    run(["ip", "link", "set", "va", "up"])
    run(["ip", "link", "set", "vb", "up"])
    bench.check(bench.agent.logs("device-attached", " vb: "), "it is when it comes up", bench.agent.log())
    bench.check([bench.programs("va", hook) for hook in HOOKS] == before,
                "down and up changes nothing")
    run(["ip", "link", "add", "br9", "type", "bridge"])
    run(["ip", "link", "add", "mv9", "link", "eth0", "type", "macvlan"])
    run(["ip", "link", "set", "br9", "up"])
    run(["ip", "link", "set", "mv9", "up"])
    run(["ip", "link", "del", "va"])
    bench.check(bench.agent.logs("device-gone", " va: ") and bench.agent.logs("device-gone", " vb: "),
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
    bench.agent.logs("device-attached", " t0: ")
    names = [bench.names("t0", hook) for hook in HOOKS]
    bench.check(names == [["ctxprop_in_ip"], ["ctxprop_out_ip"]], "tun has the IP programs", names)


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
    logs = bench.agent.logs
    bench.check(logs("device-attached", " lo: ", "(tcx)", seconds=0) and
                logs("device-attached", " eth0: ", "(tcx in, clsact out)", seconds=0), "auto", bench.agent.log())
    rows = hooks.clsact_filters(bench.node, "eth0", "out")
    bench.check(len(rows) == 2 and rows[0][2] is None, "behind the classifier of others", rows)
    bench.agent.stop()
    bench.agent.start()
    bench.check(logs("device-replaced", " eth0: ", "(tcx in, clsact out)", seconds=0),
                "the next daemon keeps both ways", bench.agent.log())
    bench.agent.stop()
    bench.check(bench.agent.ctxprop("detach").returncode == 0, "detach from both")
    rows = hooks.clsact_filters(bench.node, "eth0", "out")
    bench.check(len(rows) == 1 and rows[0][2] is None, "theirs stays", rows)
