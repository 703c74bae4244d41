# SPDX-License-Identifier: Apache-2.0
"""Policies: what the command takes, and what rules do to live traffic."""
import contextlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import cases
import test_inbound as inbound
from agent import Agent
from cases import Skip, case, equal
from lab import Lab
from messages import GET, OK, answered
from policy_command import done, fresh, refused, restored, says
from streams import connect, accept, joined, listen, quiet, receive, send_through
from wire import LINE_LENGTH
from worlds import Pair, counted, pair

BUILTIN = [32765, 32766, 32767]


@case
def words():
    """add, replace, del, flush, save, restore: text in, the same text out, JSON beside it."""
    world = fresh()
    done(world, "set", "cluster", "add", "10.0.0.0/8", "fd00::/8")
    done(world, "policy", "add", "to", "!cluster", "action", "inject", "sample", "0.1")
    done(world, "policy", "add", "prio", "5", "port", "80-90", "action", "observe")
    equal(done(world, "policy", "save"),
          "set cluster add 10.0.0.0/8 fd00::/8\n"
          "policy add prio 5 dir out port 80-90 action observe\n"
          "policy add prio 100 dir out to !cluster action inject sample 0.1\n", "policy save")
    shown = done(world, "policy").splitlines()
    equal(shown[0], "5:\tdir out port 80-90 action observe", "policy show")
    equal([int(line.split(":")[0]) for line in shown], [5, 100, *BUILTIN], "the order of rules")
    rows = json.loads(done(world, "-j", "policy"))
    equal([row["prio"] for row in rows], [5, 100, *BUILTIN], "rules in JSON")
    equal((rows[1]["to"], rows[1]["sample"], rows[1]["builtin"]), ("!cluster", 0.1, False), "JSON")
    equal(json.loads(done(world, "set", "--json")),
          [{"name": "cluster", "networks": ["10.0.0.0/8", "fd00::/8"]}], "sets in JSON")
    done(world, "policy", "replace", "prio", "5", "action", "skip")
    done(world, "policy", "del", "prio", "100")
    done(world, "set", "cluster", "del", "fd00::/8")
    equal(done(world, "policy", "save"), "set cluster add 10.0.0.0/8\n"
          "policy add prio 5 dir out action skip\n", "after replace and del")
    done(world, "policy", "flush")
    done(world, "set", "cluster", "flush")
    equal(done(world, "policy", "save"), "", "after flush")


@case
def wrong_words():
    """Mistakes: exit 1 where the daemon refuses, 2 where the words are wrong; each says which."""
    world = fresh()
    equal(refused(world, 2, "policy", "add", "action", "proxy"),
          "policy add: 'proxy': expected inject, observe, restart, strip, skip, accept or ignore",
          "a wrong action")
    equal(refused(world, 2, "policy", "frobnicate"), "policy: 'frobnicate': expected show, add, "
          "replace, del, flush, save or restore", "a wrong verb")
    equal(refused(world, 2, "set", "x", "add", "10.0.0.1/8"),
          "set x: '10.0.0.1/8': bits are set behind the prefix; the network is 10.0.0.0/8", "bits")
    equal(refused(world, 2, "policy", "add", "dir", "in", "host", "a", "action", "ignore"),
          "policy add: 'host' needs 'dir out' or 'dir forward'", "words that do not go together")
    equal(refused(world, 1, "set", "near", "del", "10.0.0.0/8"), "there is no set 'near'", "no set")
    done(world, "set", "near", "add", "10.0.0.0/8")
    equal(refused(world, 1, "set", "near", "del", "10.0.0.0/8", "10.0.0.0/9"),
          "10.0.0.0/9 is not in set 'near'", "no such network")
    done(world, "set", "near", "flush")
    equal(refused(world, 1, "policy", "add", "to", "gone", "action", "skip"),
          "there is no set 'gone'; make it first: set gone add PREFIX", "an unknown set")
    equal(refused(world, 1, "policy", "del", "prio", "7"), "there is no rule of priority 7", "del")
    done(world, "policy", "add", "prio", "7", "action", "skip")
    said = refused(world, 1, "policy", "add", "prio", "7", "action", "inject")
    equal("already" in said, True, said)
    equal(refused(world, 1, "policy", "restore",
                  input="policy add action skip\npolicy add action\n"),
          "policy restore: -:2:12: 'action': a value is missing behind it", "a wrong file")
    equal(done(world, "policy", "save"), "policy add prio 7 dir out action skip\n",
          "what was refused changed nothing")


@case
def at_the_next_request():
    """A change takes hold on a live connection at its next request, which stays intact."""
    world = fresh()
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        port = str(s.getsockname()[1])
        answered(c, s, [(GET, b"")])
        for _ in range(3):
            with counted(world.agent, skipped=2, injected=0):
                done(world, "policy", "add", "port", port, "action", "skip")
                answered(c, s, [(GET, b""), (GET, b"")], [False, False])
            done(world, "policy", "flush")
            answered(c, s, [(GET, b""), (GET, b"")])
            with counted(world.agent, observed=1):
                done(world, "policy", "add", "to", Pair.PEER, "action", "observe")
                answered(c, s, [(GET, b"")], [False])
            done(world, "policy", "add", "prio", "1", "dev", world.device, "action", "inject")
            answered(c, s, [(GET, b"")])
            done(world, "policy", "flush")


@case
def fits():
    """Each way to say which requests: networks, sets, ports, devices, directions."""
    world = fresh()
    with joined(world.app, world.peer, Pair.PEER) as (c, s), \
            joined(world.app, world.peer, Pair.PEER6) as (c6, s6):
        port = s.getsockname()[1]
        for rule, v4, v6 in ((f"to {Pair.PEER}", False, True), (f"to !{Pair.PEER}", True, False),
                             ("from 10.91.0.0/24", False, True), ("to fd00::/8", True, False),
                             ("to ::/0", True, False), ("to 0.0.0.0/0", False, True),
                             (f"port {port}", False, True), (f"port 1-{port - 1}", True, None),
                             (f"dev {world.device}", False, False), ("dev lo", True, True),
                             ("dir forward", True, True), ("to both", False, False),
                             ("to !both", True, True), ("from both", True, True)):
            restored(world, f"set both add {Pair.PEER} {Pair.PEER6}",
                     f"policy add {rule} action skip")
            answered(c, s, [(GET, b"")], [v4])
            if v6 is not None:
                answered(c6, s6, [(GET, b"")], [v6])


def get_host(*fields):
    return "\r\n".join(("GET / HTTP/1.1", *fields, "", "")).encode()


@case
def hosts():
    """host PATTERN: each request of a connection by its own Host field."""
    world = fresh()
    restored(world, "policy add host internal.example.com action inject",
             "policy add host *.example.com action skip", "policy add host exact action skip")
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        for host, injected in (("Host: internal.example.com", True), ("Host: www.example.com", False),
                               ("hOsT:\tWWW.Example.COM:8080 ", False), ("Host: example.com", True),
                               ("Host: exact.", False), ("Host: exactly", True), ("Host: [::1]:80", True),
                               ("X: www.example.com", True), ("Host: a.b.c.d.e.f.example.com", False)):
            answered(c, s, [(get_host("Accept: */*", host, "X-Host: exact"), b"")], [injected])
        one, other = get_host("Host: exact"), get_host("Host: other")
        answered(c, s, [(one, b""), (other, b""), (one, b""), (other, b"")],
                 [False, True, False, True])
        with counted(world.agent, host_unknown=2):
            answered(c, s, [(get_host("Host: other", "Host: exact"), b"")], [False])
            answered(c, s, [(get_host("Host: other, exact"), b"")], [False])
        with counted(world.agent, host_unknown=0, skipped=3):
            for length in (1100, 5000, 60_000):
                answered(c, s, [(get_host(f"X: {'x' * length}", "Host: exact"), b"")], [False])
            answered(c, s, [(get_host(f"X: {'x' * 5000}", "Host: other"), b"")])
        absolute = b"GET http://exact:80/ HTTP/1.1\r\nHost: other\r\n\r\n"
        answered(c, s, [(absolute, b""), (absolute.replace(b"exact", b"none"), b"")], [False, True])


@case
def first_fit():
    """Of several rules the first decides, whatever the others say; many change nothing."""
    world = fresh()
    many = [f"policy add prio {1000 + i} to 10.200.{i // 250}.{i % 250} port {i + 1} action skip"
            for i in range(900)]
    restored(world, "policy add prio 9 to 10.91.0.0/16 action inject",
             "policy add prio 10 to 10.0.0.0/8 action skip", *many)
    equal(len(done(world, "policy").splitlines()), 2 + 900 + len(BUILTIN), "rules shown")
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        done(world, "policy", "del", "prio", "9")
        answered(c, s, [(GET, b"")], [False])


@case
def samples():
    """sample 0 and 1: the sampled flag of new traces; in between some have it."""
    world = fresh()
    flags = re.compile(rb"traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-(..)\r\n")
    with joined(world.app, world.peer, Pair.PEER) as (c, s):
        for ratio, least, most in (("0", 0, 0), ("1", 200, 200), ("0.5", 60, 140)):
            restored(world, f"policy add action inject sample {ratio}")
            got = b""
            for _ in range(200):
                got += send_through(c, s, GET, len(GET) + LINE_LENGTH)
                s.sendall(OK)
                receive(c, len(OK))
            found = flags.findall(got)
            equal(sorted(set(found) | {b"02", b"03"}), [b"02", b"03"], "flags")
            equal(least <= found.count(b"03") <= most, True, f"{found.count(b'03')} at {ratio}")


def cgroup_root():
    for path in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(f"{path}/cgroup.controllers"):
            return Path(path)
    raise Skip("no cgroup v2 here")


@contextlib.contextmanager
def cgroup(*names):
    """A cgroup of its own below the root, with the given ones inside each other."""
    path = cgroup_root() / f"ctxprop-test-{os.getpid()}"
    paths = [path]
    for name in names:
        paths.append(paths[-1] / name)
    try:
        for made in paths:
            made.mkdir()
    except OSError as error:
        raise Skip(f"no cgroup can be made: {error}") from None
    try:
        yield paths
    finally:
        for made in reversed(paths):
            made.rmdir()


def get_from(world, path, port):
    """One request by curl inside a cgroup; what the server got."""
    with listen(world.peer, Pair.PEER, port) as listener:
        client = world.app.spawn(["sh", "-c", f"echo $$ >{path}/cgroup.procs && exec curl -s "
                                  f"http://{Pair.PEER}:{port}/"], stdout=subprocess.DEVNULL)
        with accept(listener) as s:
            got = b""
            while b"\r\n\r\n" not in got:
                got += s.recv(4096)
            s.sendall(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        client.wait(10)
    return b"traceparent" in got


@case(slow=True)
def cgroups():
    """A cgroup and those below it; one that comes later is met when it is there."""
    world = fresh()
    with cgroup("inner") as (outer, inner):
        name = f"/{outer.name}"
        restored(world, f"policy add cgroup {name} action skip")
        equal(get_from(world, outer, 8201), False, "in it")
        equal(get_from(world, inner, 8202), False, "below it")
        equal(get_from(world, cgroup_root(), 8203), True, "outside")
        restored(world, f"policy add cgroup {name}/inner action inject",
                 f"policy add cgroup {name} action skip")
        equal([get_from(world, outer, 8204), get_from(world, inner, 8205)], [False, True], "nested")
        restored(world, f"policy add cgroup {name}/late action skip")
        late = outer / "late"
        late.mkdir()
        try:
            says(world.agent, "[policy-updated]")
            equal(get_from(world, late, 8206), False, "in the one that came late")
        finally:
            late.rmdir()


@case
def late_device():
    """A rule for a device that comes later."""
    with pair() as world:
        done(world, "policy", "add", "dev", "eth1", "action", "skip")
        more = world.more()
        with joined(world.app, world.peer, more.peer) as (c, s):
            answered(c, s, [(GET, b"")], [False])
        with joined(world.app, world.peer, Pair.PEER) as (c, s):
            answered(c, s, [(GET, b"")])


@case
def ignored_contexts():
    """dir in: whose context is believed, also on a live connection; what arrives is the same."""
    world = fresh()
    with inbound.serving() as (world, c, s):
        for rule, root in ((None, False), ("action ignore", True), ("action accept", False),
                           (f"from {Pair.PEER} action ignore", True),
                           (f"from {Pair.APP} action ignore", False),
                           (f"port {s.getsockname()[1]} action ignore", True),
                           (f"port {c.getsockname()[1]} action ignore", False),
                           (f"to {Pair.APP} dev {world.device} action ignore", True),
                           ("dir out action skip", False)):
            restored(world, *([f"policy add {rule}"] if rule else []))
            with counted(world.agent, served_ignored=int(root), served_child=int(not root)):
                request = inbound.one(world, c, s, inbound.CHILD)
                equal((request.root, request.trace_id == inbound.TRACE), (root, not root), rule)
                inbound.answer(world, c, s)


def hits(world):
    """What `policy show` says that each rule has decided, by priority."""
    return {rule["prio"]: rule["hits"] for rule in json.loads(done(world, "-s", "-j", "policy"))}


@case(seconds=120)
def rule_hits():
    """policy -s: requests that each rule has decided; kept while the rule stays, by any daemon."""
    with pair() as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        port = str(s.getsockname()[1])
        answered(c, s, [(GET, b"")] * 2)
        equal(hits(world), {32765: 0, 32766: 2, 32767: 0}, "the built-in rules")
        rule = ("policy", "add", "prio", "5", "port", port, "action", "skip")
        done(world, *rule)
        done(world, "policy", "add", "prio", "6", "host", "other", "action", "observe")
        answered(c, s, [(GET, b"")] * 3, [False] * 3)
        equal(hits(world), {5: 3, 6: 0, 32765: 0, 32766: 2, 32767: 0}, "with a rule")
        equal(done(world, "-s", "-o", "policy").splitlines()[0],
              f"5:\tdir out port {port} action skip hits 3", "as text")
        world.agent.stop(signal.SIGKILL)
        answered(c, s, [(GET, b"")], [False])
        world.agent.start()
        equal(hits(world)[5], 4, "by the next daemon")
        done(world, "policy", "replace", "prio", "5", "port", port, "action", "observe")
        equal(hits(world)[5], 0, "of a rule that is another one now")
        with counted(world.agent, host_unknown=1, observed=1):
            done(world, "policy", "del", "prio", "5")
            answered(c, s, [(get_host("Host: other", "Host: exact"), b"")], [False])
            answered(c, s, [(get_host("Host: other"), b"")], [False])
        equal(hits(world), {6: 1, 32765: 0, 32766: 2, 32767: 0}, "by host, and of no host")
        done(world, *rule)
        equal(hits(world)[5], 0, "of a rule that was made again")
    with inbound.serving() as (world, c, s):
        before = hits(world)[32765]
        done(world, "policy", "add", "prio", "7", "dir", "in", "action", "ignore")
        inbound.one(world, c, s, inbound.CHILD)
        inbound.answer(world, c, s)
        done(world, "policy", "flush")
        inbound.one(world, c, s, inbound.CHILD)
        inbound.answer(world, c, s)
        equal(hits(world)[32765], before + 1, "of requests that come in")


@case
def forwarded():
    """dir forward is for what a router passes on, dir out for its own requests."""
    with Lab("net") as lab:
        inside, router, outside = (lab.host(name) for name in ("inside", "router", "outside"))
        lab.link(inside, router, "10.1.0.2/24", "10.1.0.1/24")
        _, device = lab.link(router, outside, "10.2.0.1/24", "10.2.0.2/24")
        del device
        router.sysctl("net.ipv4.ip_forward", 1)
        inside.run(["ip", "route", "add", "default", "via", "10.1.0.1"])
        outside.run(["ip", "route", "add", "default", "via", "10.2.0.1"])
        agent = Agent(router, cases.BUILD)
        with joined(inside, outside, "10.2.0.2") as (c, s), \
                joined(router, outside, "10.2.0.2") as (own_c, own_s):
            answered(c, s, [(GET, b"")])
            agent.command("policy", "add", "dir", "forward", "to", "10.2.0.0/24", "action", "skip")
            answered(c, s, [(GET, b"")], [False])
            answered(own_c, own_s, [(GET, b"")])
            agent.command("policy", "flush")
            agent.command("policy", "add", "dir", "out", "action", "skip")
            answered(c, s, [(GET, b"")])
            answered(own_c, own_s, [(GET, b"")], [False])
            quiet(s)


@case
def under_load():
    """Rules change hundreds of times while requests pass: each is whole, with or without."""
    world = fresh()
    with listen(world.peer, Pair.PEER) as listener, contextlib.ExitStack() as stack:
        links = []
        for _ in range(8):
            c = stack.enter_context(connect(world.app, listener.getsockname()))
            links.append((c, stack.enter_context(accept(listener))))
        changer = world.app.spawn(["sh", "-c", f"""for i in $(seq 60); do
            {cases.BUILD}/ctxprop policy add prio 1 action skip &&
            {cases.BUILD}/ctxprop policy del prio 1 || exit 1; done"""],
                                  stdout=subprocess.DEVNULL)
        seen = {True: 0, False: 0}
        while changer.poll() is None:
            for c, s in links:
                c.sendall(GET)
                got = b""
                while not got.endswith(b"\r\n\r\n"):
                    got += s.recv(4096)
                injected = got != GET
                seen[injected] += 1
                equal(len(got), len(GET) + LINE_LENGTH * injected, "length of a request")
                s.sendall(OK)
                equal(receive(c, len(OK)), OK, "the answer")
        equal(changer.returncode, 0, "changing the policy")
        equal(all(seen.values()), True, f"both with and without: {seen}")
