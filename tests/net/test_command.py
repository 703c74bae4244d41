# SPDX-License-Identifier: Apache-2.0
"""What the daemon tells the service manager, what it may do, and what `ctxprop doctor` finds."""
import json
import os
import socket
import tempfile

import cases
from agent import Agent
from cases import case, equal
from lab import Lab
from worlds import pair

KEPT = {"net_admin": 12, "bpf": 39, "perfmon": 38, "sys_ptrace": 19, "dac_read_search": 2}
SYS_ADMIN = 21


def doctor(host):
    """(exit status, {what: [findings]})"""
    ended = host.run([f"{cases.BUILD}/ctxprop", "-j", "doctor"], check=False)
    found = {}
    for row in json.loads(ended.stdout):
        found.setdefault(row["what"], []).append((row["finding"], row["text"]))
    return ended.returncode, found


@case
def doctor_is_content():
    """With a daemon at work: all is well, device by device; others' programs are named."""
    with pair() as world:
        status, found = doctor(world.app)
        equal((status, [what for what, rows in found.items() for row in rows if row[0] == "bad"]),
              (0, []), "what is bad")
        for device in ("lo", world.device):
            equal(found[device], [("ok", "our programs are at both hooks")], device)
        world.app.run(["tc", "qdisc", "add", "dev", world.device, "clsact"])
        world.app.run(["tc", "filter", "add", "dev", world.device, "ingress", "prio", "7", "u32",
                       "match", "u32", "0", "0", "flowid", "1:1"])
        finding, text = doctor(world.app)[1][world.device][1]
        equal((finding, "of others, too" in text), ("note", True), "somebody else's classifier")


@case
def doctor_is_not():
    """Without a daemon: what is wrong, and what would be right."""
    with Lab("net") as lab:
        status, found = doctor(lab.host("app"))
        equal(status, 1, "exit status")
        equal(found["daemon"][0], ("bad", "no ctxpropd runs in this network namespace; start it, or "
                                   "name another namespace by --netns"), "the daemon")
        equal(found["pins"][0][0], "bad", "pins")


@case
def few_capabilities():
    """Once it is ready the daemon has only the capabilities that it needs, and can get no more."""
    with pair() as world:
        with open(f"/proc/{world.agent.process.pid}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        allowed = sum(1 << bit for bit in KEPT.values())
        if "CAP_SYS_ADMIN stays: this kernel wants it for uprobes" in world.agent.said():
            allowed |= 1 << SYS_ADMIN
        for kind in ("CapPrm", "CapEff", "CapBnd"):
            equal(int(status[kind], 16) & ~allowed, 0, kind)
        equal(int(status["CapEff"], 16) & 1 << KEPT["net_admin"] != 0, True, "CAP_NET_ADMIN")
        equal((int(status["CapAmb"], 16), status["NoNewPrivs"]), (0, "1"), "no way to get more")
        world.more()


@case
def service_manager():
    """READY=1 when all is attached, STOPPING=1 at the end."""
    with tempfile.TemporaryDirectory() as folder, Lab("net") as lab, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = f"{folder}/notify"
        manager.bind(path)
        manager.settimeout(10)
        os.environ["NOTIFY_SOCKET"] = path
        try:
            agent = Agent(lab.host("app"), cases.BUILD)
        finally:
            del os.environ["NOTIFY_SOCKET"]
        equal(manager.recv(100), b"READY=1", "at start")
        agent.stop()
        equal(manager.recv(100), b"STOPPING=1", "at the end")
