# SPDX-License-Identifier: Apache-2.0
"""Orders to a running agent: devices and namespaces detached and attached, everything drained."""
import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import cases
import hooks
from cases import case, equal
from hooks import cookie
from messages import GET, answered, post
from streams import accept, connect, joined, listen
from test_command import doctor
from test_pods import Node, node, wait_until
from worlds import Pair, pair

PINS = Path("/sys/fs/bpf/ctxprop")


def ctxprop(host, *argv):
    """The finished command: (exit code, what it says)."""
    done = host.run([f"{cases.BUILD}/ctxprop", *argv], check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def told(host, *argv):
    """A command that has to succeed, and to say so in one line."""
    status, said = ctxprop(host, *argv)
    equal((status, len(said.splitlines())), (0, 1), f"ctxprop {' '.join(argv)}: {said}")


def refused(host, text, *argv):
    status, said = ctxprop(host, *argv)
    equal((status, text in said), (1, True), f"ctxprop {' '.join(argv)}: {said}")


@contextlib.contextmanager
def in_background(host, *argv):
    """A command that goes on; what it prints goes to the file that it comes with."""
    with tempfile.NamedTemporaryFile("r") as out:
        process = host.spawn([f"{cases.BUILD}/ctxprop", *argv], stdout=open(out.name, "w"),
                             stderr=subprocess.STDOUT)
        yield process, lambda: Path(out.name).read_text(encoding="utf-8")


@case
def device():
    """A device is detached, left alone also by the next daemon, and attached again."""
    with pair() as world, in_background(world.app, "monitor") as (_, news):
        more = world.more()
        told(world.app, "detach", more.device)
        for restarted in (False, True):
            if restarted:
                world.agent.stop(9)
                world.agent.start()
            for address, injected in ((more.peer, False), (Pair.PEER, True)):
                with joined(world.app, world.peer, address) as (c, s):
                    answered(c, s, [(GET, b"")], [injected])
        told(world.app, "attach", more.device)
        wait_until(lambda: f"  attached {more.device}\n" in news(), news)
        with joined(world.app, world.peer, more.peer) as (c, s):
            answered(c, s, [(GET, b"")])
        refused(world.app, "there is no device eth7", "detach", "eth7")
        refused(world.app, "there is no device eth7", "attach", "eth7")
        refused(world.app, "does not work in that network namespace", "detach", "eth0", "netns",
                world.peer.netns)
        refused(world.app, "started for one network namespace", "attach", "netns",
                world.peer.netns)
        for argv in (("attach",), ("attach", "eth0", "eth1"), ("detach", "netns")):
            equal(ctxprop(world.app, *argv)[0], 2, f"exit code of {argv}")


@case(slow=True)
def live_connections():
    """With live connections nothing is detached but by --force; nothing is harmed by asking."""
    with pair() as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        more = world.more()
        answered(c, s, [(GET, b"")])
        refused(world.app, "1 live connections carry added bytes", "detach", more.device)
        refused(world.app, "a ctxpropd is running", "detach")
        answered(c, s, [(GET, b"")])
        told(world.app, "detach", more.device, "--force")
        answered(c, s, [(GET, b"")])
        with joined(world.app, world.peer, more.peer) as other:
            answered(*other, [(GET, b"")], [False])


@case(seconds=120, slow=True)
def namespaces():
    """A pod is detached and attached again, also across a restart; another one besides."""
    with node() as world:
        pod = world.attended(world.early)
        pins = PINS / f"{cookie(pod):x}"
        with joined(pod, world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")])
            refused(world.node, "live connections of that namespace", "detach", "netns", pod.netns)
            answered(c, s, [(GET, b"")])
        wait_until(lambda: ctxprop(world.node, "detach", "netns", pod.netns)[0] == 0, "detach")
        equal(pins.exists(), False, "its pins")
        world.agent.stop(9)
        world.agent.start()
        equal(pins.exists(), False, "its pins after a restart")
        told(world.node, "attach", "netns", pod.netns)
        equal(pins.exists(), True, "its pins again")
        # One that no pattern fits.
        told(world.node, "attach", "netns", world.outside.netns)
        world.agent.wait_logged("device-attached", f" {world.outside.netns}/eth0: ")
        world.agent.stop(9)
        world.agent.start()
        world.agent.wait_logged("device-replaced", f" {world.outside.netns}/eth0: ")
        told(world.node, "detach", "eth0", "netns", world.outside.netns)
        refused(world.node, "does not work", "detach", "netns", world.lab.host("other").netns)


@case(seconds=120)
def by_way_of_a_pod():
    """In a pod the daemon's rules are shown; what would hold for all is ordered in its own."""
    with node() as world:
        pod, pid = world.attended(world.early), world.agent.process.pid
        own, there = ("--netns", str(pid)), ("--netns", pod.netns)
        told(world.outside, *own, "set", "near", "add", "10.0.0.0/8")
        told(world.outside, *own, "policy", "add", "prio", "7", "to", "near", "action", "observe")
        for words in (("policy",), ("-js", "policy"), ("policy", "save"), ("set",), ("-j", "set")):
            shown = ctxprop(world.outside, *there, *words)
            equal(shown, ctxprop(world.node, *words), words)
            equal("near" in shown[1], True, shown)
        with in_background(world.outside, *there, "monitor") as (_, news):
            for words in (("policy", "add", "action", "skip"), ("policy", "del", "prio", "7"),
                          ("policy", "replace", "prio", "7", "action", "skip"),
                          ("policy", "flush"), ("policy", "restore", "/dev/null"),
                          ("set", "near", "add", "fd00::/8"), ("set", "near", "flush"), ("drain",)):
                refused(world.outside, f"in the daemon's own: ctxprop --netns {pid}", *there, *words)
            equal("7:" in ctxprop(world.node, "policy")[1], True, "the rule is there still")

            def heard():
                told(world.outside, *own, "policy", "flush")
                return news()

            wait_until(heard, "the daemon's news")
            equal({line.split("  ")[1] for line in news().splitlines()}, {"flushed"}, "all news")
        for done, word in (("detached", "detach"), ("attached", "attach")):
            equal(ctxprop(world.outside, *there, word, "eth0"), (0, f"{done} eth0"), word)
            world.agent.wait_logged(f"device-{done}", f" {pod.netns}/eth0: ")
        refused(world.outside, "see 'ctxprop detach netns'", *there, "detach")
        status, found = doctor(pod)
        equal((status, found["daemon"][0][0]), (0, "ok"), found)


@case(slow=True)
def drained():
    """No new header, live connections go on, and when the last is over everything is gone."""
    with node() as world, contextlib.ExitStack() as stack:
        pod = world.attended(world.early)
        listener = stack.enter_context(listen(world.outside, Node.OUTSIDE, 8080))
        links = []
        for host in (pod, world.node):
            c = stack.enter_context(connect(host, (Node.OUTSIDE, 8080)))
            links.append((c, stack.enter_context(accept(listener))))
            answered(*links[-1], [(GET, b"")])
        with in_background(world.node, "drain") as (process, said):
            wait_until(lambda: "2 connections left" in said(), said)
            for link in links:
                answered(*link, [post(os.urandom(20_000))], [False])
            for sock in links[0]:
                sock.close()
            wait_until(lambda: "1 connection left" in said(), said)
            answered(*links[1], [(GET, b"")], [False])
            for sock in links[1]:
                sock.close()
            wait_until(lambda: process.poll() is not None, said)
            equal((process.returncode, said().splitlines()[-2:]),
                  (0, ["0 connections left", "drained: everything of ctxprop is removed"]), "ends")
        wait_until(lambda: world.agent.process.poll() is not None, world.agent.said)
        equal(world.agent.process.returncode, 0, "exit status of the daemon")
        for host in (pod, world.node):
            equal((PINS / f"{cookie(host):x}").exists(), False, "pins")
            equal([hooks.tcx_ids(host, "eth0", hook) for hook in ("in", "out") if hooks.has_tcx()] +
                  [hooks.clsact_filters(host, "eth0", hook) for hook in ("in", "out")],
                  [[]] * (4 if hooks.has_tcx() else 2), "programs at eth0")
        with joined(pod, world.outside, Node.OUTSIDE) as (c, s):
            answered(c, s, [(GET, b"")], [False])


@case(slow=True)
def drain_given_up():
    """`resume` gives a drain up; without a daemon it is the command that waits."""
    with pair() as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        with in_background(world.app, "drain") as (process, said):
            wait_until(lambda: "1 connection left" in said(), said)
            told(world.app, "resume")
            wait_until(lambda: process.poll() is not None, said)
            equal((process.returncode, "given up" in said()), (1, True), said())
        answered(c, s, [(GET, b"")])
        world.agent.stop()
        with in_background(world.app, "drain") as (process, said):
            wait_until(lambda: "1 connection left" in said(), said)
            answered(c, s, [(GET, b"")], [False])
            c.close()
            s.close()
            wait_until(lambda: process.poll() is not None, said)
            equal(process.returncode, 0, said())
        equal((PINS / f"{cookie(world.app):x}").exists(), False, "pins")


@case(seconds=120, slow=True)
def rules_last():
    """What `policy` and `set` have changed outlasts the daemon, until the file is another one."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("policy add prio 5 to 10.9.0.0/16 action skip\n")
        file.flush()
        with pair("--policy", file.name) as world:
            shown = lambda: ctxprop(world.app, "policy", "save")[1].splitlines()
            from_file = shown()
            told(world.app, "set", "near", "add", f"{Pair.PEER}/32")
            told(world.app, "policy", "add", "prio", "7", "to", "near", "action", "skip")
            changed = shown()
            equal(len(changed), len(from_file) + 2, "lines")
            for how in (9, 15):
                world.agent.stop(how)
                world.agent.start()
                equal(shown(), changed, "after a restart")
                with joined(world.app, world.peer, Pair.PEER) as (c, s):
                    answered(c, s, [(GET, b"")], [False])
            world.agent.stop()
            file.write("# Something else.\n")
            file.flush()
            world.agent.start()
            equal(shown(), from_file, "another file")
            equal(len(world.agent.logged("policy-file-changed")), 1, "said")
            world.agent.stop()
            world.agent.start()
            equal(shown(), from_file, "and so it stays")
