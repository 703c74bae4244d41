# SPDX-License-Identifier: Apache-2.0
"""What the daemon tells the service manager, what it may do, and what `ctxprop doctor` finds."""
import contextlib
import json
import os
import pty
import re
import socket
import tempfile

import cases
from agent import Agent
from cases import case, equal
from lab import Lab
from worlds import common, pair

# The words behind a command with which it says something; those that are not here need none.
SAYING = {"policy": ((), ("show",), ("save",)), "set": ((), ("show",), ("near", "show")),
          "profile": (("-d", "100ms"),)}
# Commands that end last, or do not end.
APART = ("attach", "detach", "drain", "monitor", "logs")

# Commands that read a store, with words that tests/spans tries more of.
STORE = {"trace": (), "top": (), "map": (), "why": ("192.0.2.1",), "sql": ("SELECT 1",)}

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


@case(slow=True)
def few_capabilities():
    """Once it is ready the daemon has only the capabilities that it needs, and can get no more."""
    with pair() as world:
        with open(f"/proc/{world.agent.process.pid}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        allowed = sum(1 << bit for bit in KEPT.values())
        if world.agent.logged("cap-sys-admin-kept"):
            allowed |= 1 << SYS_ADMIN
        for kind in ("CapPrm", "CapEff", "CapBnd"):
            equal(int(status[kind], 16) & ~allowed, 0, kind)
        equal(int(status["CapEff"], 16) & 1 << KEPT["net_admin"] != 0, True, "CAP_NET_ADMIN")
        equal((int(status["CapAmb"], 16), status["NoNewPrivs"]), (0, "1"), "no way to get more")
        world.more()


@case(slow=True)
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


def ctxprop(world, *argv, env=None, **kw):
    return world.app.run([f"{cases.BUILD}/ctxprop", *argv], check=False,
                         env={**os.environ, **(env or {})}, **kw)


def commands(world):
    """The commands that --help lists."""
    return re.findall(r"^  ([a-z]+) +[A-Z]", ctxprop(world, "--help").stdout, re.M)


def document(world, *argv):
    ended = ctxprop(world, *argv)
    equal((ended.returncode, ended.stderr), (0, ""), f"ctxprop {' '.join(argv)}")
    return json.loads(ended.stdout)


@case(slow=True)
def json_everywhere():
    """-j before and behind every command that says something: JSON, the same in both places."""
    with pair() as world:
        ctxprop(world, "policy", "restore", input="set near add 10.0.0.0/8 fd00::/8\n"
                "policy add to near action skip\n")
        for command in commands(world):
            saying = () if command in APART or command in STORE else SAYING.get(command, ((),))
            for words in saying:
                before = document(world, "-j", command, *words)
                behind = document(world, command, *words, "--json")
                equal(type(before), type(behind), command)
        equal(document(world, "-j", "set", "near"),
              [{"name": "near", "networks": ["10.0.0.0/8", "fd00::/8"]}], "a set")
        saved = document(world, "-j", "policy", "save")
        equal((len(saved["sets"]), len(saved["rules"])), (1, 1), "policy save")
        equal((document(world, "pause", "-j"), document(world, "-j", "resume")),
              ({"paused": True}, {"paused": False}), "pause and resume")
        equal([json.loads(line) for line in ctxprop(world, "drain", "-j").stdout.splitlines()], [],
              "drain, with nothing to wait for")
        world.agent.stop()
        world.agent.start()
        world.agent.stop()
        equal(document(world, "-j", "detach"), {"detached": True}, "detach")


@case(slow=True)
def one_line():
    """-o: no headings, a line for each thing."""
    world = common()
    ctxprop(world, "policy", "restore",
            input="set far add 10.0.0.0/8 fd00::/8\nset near add 192.168.0.0/16\n")
    equal(ctxprop(world, "-o", "set").stdout, "far: 10.0.0.0/8 fd00::/8\nnear: 192.168.0.0/16\n",
          "sets")
    equal(ctxprop(world, "flows", "--oneline").stdout, "", "no flows")
    for line in ctxprop(world, "-os", "stats").stdout.splitlines():
        equal(re.fullmatch(r"\S+ \S+ +\d+  \S.*", line) is not None, True, line)


@case
def exit_statuses():
    """0 for help, 2 for words that are wrong, 1 where there is nothing to ask; each says why."""
    with pair(agent=False) as world:
        for command in commands(world):
            ended = ctxprop(world, command, "--help")
            equal((ended.returncode, ended.stderr), (0, ""), f"{command} --help")
            equal(ended.stdout.startswith(f"Usage: ctxprop {command} "), True, ended.stdout)
            for wrong in (("--nonsense",), ("--color=blue",), ("nonsense", "nonsense")):
                if command == "logs" and wrong[0] == "nonsense":  # a program to be run
                    continue
                ended = ctxprop(world, command, *wrong)
                equal((ended.returncode, ended.stdout), (2, ""), f"{command} {wrong}")
                equal(re.match(rf"ctxprop( {command})?: ", ended.stderr) is not None, True,
                      ended.stderr)
            if command in ("monitor", "who", "profile", "labels"):  # waits, asks the whole host, or a file
                continue
            if command in STORE:
                ended = ctxprop(world, command, "--store", "/nowhere/x.db", *STORE[command])
                equal((ended.returncode, "/nowhere/x.db" in ended.stderr), (1, True), command)
                continue
            ended = ctxprop(world, command)
            equal(ended.returncode, 2 if command in ("attach", "logs") else 1, f"{command} without a daemon")
            equal(ended.stderr != "" or command == "doctor", True, f"{command} says nothing")
        for wrong in ((), ("frobnicate",), ("-c=blue", "stats"), ("--nonsense", "stats")):
            equal(ctxprop(world, *wrong).returncode, 2, f"ctxprop {wrong}")


@contextlib.contextmanager
def terminal():
    """A terminal for the standard output of a command; gives a function that reads what it shows."""
    def shown():
        os.close(near)
        data = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(far, 65536):
                data += piece
        return data.decode()

    far, near = pty.openpty()
    yield near, shown
    os.close(far)


def on_terminal(world, *argv, **env):
    with terminal() as (near, shown):
        world.app.spawn([f"{cases.BUILD}/ctxprop", *argv], stdout=near,
                        env={**os.environ, "TERM": "xterm", **env}).wait(timeout=20)
        return shown()


@case
def colours():
    """Colours on a terminal, and nowhere else unless they are asked for; never in JSON."""
    world = common()
    plain = ctxprop(world, "policy").stdout
    coloured = on_terminal(world, "policy")
    equal("\033[32minject\033[0m" in coloured, True, coloured)
    equal(re.sub(r"\033\[\d*m", "", coloured).replace("\r\n", "\n"), plain, "the same text")
    for argv, env in ((("policy",), {"NO_COLOR": "1"}), (("policy",), {"TERM": "dumb"}),
                      (("-c=never", "policy"), {}), (("policy", "--color=never"), {}),
                      (("-j", "-c", "policy"), {})):
        equal("\033" in on_terminal(world, *argv, **env), False, f"{argv} {env}")
    for argv in (("-c", "policy"), ("policy", "--color=always"), ("-c=always", "-s", "stats"),
                 ("doctor", "-c")):
        equal("\033" in ctxprop(world, *argv).stdout, True, f"{argv} into a pipe")
    equal("\033" in plain, False, "a pipe")
