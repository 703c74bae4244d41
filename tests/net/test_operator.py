# SPDX-License-Identifier: Apache-2.0
"""The first hour of an operator: what the command answers, what the log says of who did what."""
import contextlib
import json
import os
import re
import subprocess
import time

import cases
from cases import case, equal
from lab import Lab
from logged import logged
from messages import GET, OK, answered, untouched
from policy_command import command, done, fresh, refused, restored
from streams import joined, receive, send_through
from test_command import doctor
from waiting import wait_until
from wire import LINE_LENGTH
from worlds import Pair, pair

COLUMNS = 80


@case
def answers():
    """What changes something says in a line what it has done; with -j as JSON."""
    world = fresh()
    for words, line in (
            (("set", "near", "add", "10.0.0.0/8", "fd00::/8"), "set near: 2 networks added"),
            (("policy", "add", "to", "near", "port", "80,443", "action", "skip"),
             "added 100:\tdir out to near port 80,443 action skip"),
            (("policy", "replace", "prio", "100", "action", "observe"),
             "in force 100:\tdir out action observe"),
            (("policy", "del", "prio", "100"), "deleted 100:\tdir out action observe"),
            (("policy", "flush"), "flushed: only the built-in rules are left, and all sets"),
            (("set", "near", "del", "fd00::/8"), "set near: 1 network deleted"),
            (("set", "near", "flush"), "set near: flushed"),
            (("pause",), "editing is off: requests get no header, live connections stay translated"),
            (("resume",), "editing is on"),
            (("detach", world.device), f"detached {world.device}"),
            (("attach", world.device), f"attached {world.device}")):
        equal(done(world, *words), f"{line}\n", " ".join(words))
    equal(done(world, "policy", "restore", input="policy add action skip\n"),
          "restored: 1 rule, 0 sets\n", "restore")
    rule = json.loads(done(world, "-j", "policy", "add", "port", "80,90-99", "action", "skip"))
    equal((rule["prio"], rule["ports"]), (110, [{"port_first": 80, "port_last": 80},
                                               {"port_first": 90, "port_last": 99}]), "a rule in JSON")
    equal(json.loads(done(world, "policy", "flush", "-j")), {"flushed": True}, "flush in JSON")


@case
def same_rule_again():
    """A rule that says the same as another one is refused, and which that is; not in a file."""
    world = fresh()
    done(world, "policy", "add", "port", "80", "action", "skip")
    equal(refused(world, 1, "policy", "add", "prio", "7", "action", "skip", "port", "80-80"),
          "rule 100 says the same; delete it first if its place is the wrong one", "again")
    done(world, "policy", "add", "port", "81", "action", "skip")
    restored(world, "policy add prio 1 action skip", "policy add prio 2 action skip")
    equal(len(done(world, "policy", "save").splitlines()), 2, "rules of a file")


@case
def near_misses():
    """A command that there is not: what may have been meant, and exit status 2."""
    for word, meant in (("status", "stats' or 'ctxprop doctor"), ("stat", "stats"), ("help", "--help"),
                        ("version", "--version"), ("polcy", "policy"), ("docter", "doctor"),
                        ("flow", "flows"), ("xyzzy", None), ("x", None)):
        ended = subprocess.run([f"{cases.BUILD}/ctxprop", word], capture_output=True, text=True)
        hint = f"; did you mean 'ctxprop {meant}'?" if meant else ""
        equal((ended.returncode, ended.stderr),
              (2, f"ctxprop: unknown command '{word}'{hint}\nTry: ctxprop --help\n"), word)


@case
def full_device():
    """What cannot be written is exit status 1, whatever it is."""
    world = fresh()
    for words in (("stats",), ("-j", "stats"), ("policy",), ("flows",), ("--help",), ("--version",),
                  ("set", "near", "add", "10.0.0.0/8"), ("doctor",)):
        with open("/dev/full", "w", encoding="ascii") as full:
            ended = world.app.spawn([f"{cases.BUILD}/ctxprop", *words], stdout=full,
                                    stderr=subprocess.PIPE, text=True)
            _, said = ended.communicate(timeout=20)
        equal((ended.returncode, "No space left on device" in said), (1, True), f"{words}: {said}")


@case
def live_connections():
    """flows: units, 80 columns, and a word when there are none."""
    with pair() as world:
        equal(done(world, "flows"), "no live connections\n", "none")
        equal(done(world, "-o", "flows"), "", "none, for grep")
        with joined(world.app, world.peer, Pair.PEER) as (c, s):
            answered(c, s, [(GET, b"")])
            heading, line = done(world, "flows").splitlines()
            equal(heading.split(), ["STATE", "REQS", "HDRS", "ADDED", "IDLE", "FROM", "TO"], "heading")
            equal(re.fullmatch(r"http +1 +1 +70B [ 0-9.]+s  10\.91\.0\.1:\d+  10\.91\.0\.2:\d+", line)
                  is not None, True, line)
            equal(max(len(heading), len(line)) <= COLUMNS, True, line)


@contextlib.contextmanager
def monitor(world):
    with world.app.spawn([f"{cases.BUILD}/ctxprop", "monitor"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


@case
def monitor_of_nobody():
    """Without a daemon monitor says so, and waits for one."""
    with pair(agent=False) as world, monitor(world) as process:
        equal(process.stderr.readline(), "ctxprop: monitor: no ctxpropd answers in this network "
              "namespace; waiting until one is started\n", "what it says")
        world.start_agent()
        done(world, "pause")
        equal(process.stdout.readline().endswith("  paused\n"), True, "news")


@case
def who_did_it():
    """The log names the process and the user that have paused, detached, drained, changed rules."""
    with pair() as world:
        more = world.more()
        for words, said in ((("pause",), "paused"), (("resume",), "resumed"),
                            (("detach", more.device), f"detach {more.device}"),
                            (("attach", more.device), f"attach {more.device}"),
                            (("policy", "add", "action", "skip"), r"policy: \w+"),
                            (("drain",), "drain")):
            process = world.app.spawn([f"{cases.BUILD}/ctxprop", *words], stdout=subprocess.DEVNULL)
            equal(process.wait(timeout=30), 0, f"{words}")
            wait_until(lambda said=said, pid=process.pid:
                       re.search(rf" info: {said}:? by process {pid} of user 0.* \[(ordered|policy-changed)\]\n",
                                 world.agent.said()),
                       world.agent.said)


@case
def rights_are_named():
    """What is not followed for want of rights is said at the start, and by doctor: of the daemon."""
    with Lab("net") as lab:
        host = lab.host("app")
        for name, lacks in (("sys_ptrace", "CAP_SYS_PTRACE"),
                            ("dac_read_search", "CAP_DAC_READ_SEARCH"), (None, None)):
            log = open(f"/tmp/{lab.name}-rights.log", "w+", encoding="utf-8")
            os.unlink(log.name)
            less = ["setpriv", f"--bounding-set=-{name}", "--"] if name else []
            daemon = host.spawn([*less, f"{cases.BUILD}/ctxpropd", "--config", "none", "--store", "none", "--http",
                                 "none"], stderr=log)

            def said(log=log):
                log.seek(0)
                return log.read()

            try:
                wait_until(lambda: logged(said(), "ready"), said, seconds=60)
                warned = re.findall(r"(CAP_\w+): runtimes.* \[capability-missing\]\n", said())
                equal(warned, [lacks] if lacks else [], f"what is said at the start: {said()}")
                found = doctor(host)[1]["rights"]
                equal((found[0][0], [lacks in text if lacks else "has the capabilities" in text
                                     for _, text in found]),
                      ("note" if lacks else "ok", [True]), f"doctor: {found}")
                equal(str(daemon.pid) in found[0][1], True, f"of which process: {found}")
            finally:
                daemon.terminate()
                daemon.wait(timeout=30)
                host.run([f"{cases.BUILD}/ctxprop", "detach", "--force"], check=False)
                log.close()


@case
def few_traces_sampled():
    """--sample: of the traces that begin by the built-in rules; a rule says for itself."""
    flags = re.compile(rb"traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-(..)\r\n")
    with pair("--sample", "0") as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        def sent():
            got = send_through(c, s, GET, len(GET) + LINE_LENGTH)
            s.sendall(OK)
            receive(c, len(OK))
            return flags.findall(got)

        equal(sent(), [b"02"], "by the built-in rule")
        done(world, "policy", "add", "port", "1-65535", "action", "inject")
        equal(sent(), [b"03"], "by a rule without a ratio")
        done(world, "policy", "flush")
        equal(sent(), [b"02"], "by the built-in rule again")
        shown = done(world, "policy").splitlines()
        equal(shown[1], "32766:\tdir out action inject sample 0 # built in", "what is shown")
        equal(done(world, "policy", "save"), "", "nothing of it is saved")
    ended = subprocess.run([f"{cases.BUILD}/ctxpropd", "--config", "none", "--sample", "2"], capture_output=True, text=True)
    equal((ended.returncode, "--sample 2: expected a ratio from 0 to 1" in ended.stderr), (2, True),
          ended.stderr)


@case
def waits_for_a_policy():
    """--wait-for-policy: a bad file makes no end; nothing is attached until it is a good one."""
    path = f"/tmp/ctxprop-operator-{os.getpid()}"
    with pair(agent=False) as world, contextlib.ExitStack() as stack:
        stack.callback(os.unlink, path)
        with open(path, "w", encoding="ascii") as file:
            file.write("policy add action proxy\n")
        log = stack.enter_context(open(f"{path}.log", "w+", encoding="utf-8"))
        os.unlink(log.name)
        daemon = world.app.spawn([f"{cases.BUILD}/ctxpropd", "--config", "none", "--store", "none", "--http", "none",
                                  "--wait-for-policy", "--policy", path], stderr=log)

        def said():
            log.seek(0)
            return log.read()

        try:
            wait_until(lambda: logged(said(), "policy-waiting"), said)
            equal(len(logged(said(), "policy-refused", f"{path}:1:19: 'proxy': expected inject")), 1, said())
            time.sleep(0.5)
            equal((daemon.poll(), command(world, "policy").returncode), (None, 1), "it waits")
            with open(path, "w", encoding="ascii") as file:
                file.write("policy add action skip\n")
            wait_until(lambda: logged(said(), "ready"), said, seconds=60)
            equal(done(world, "policy", "save"), "policy add prio 100 dir out action skip\n", "policy")
        finally:
            daemon.terminate()
            daemon.wait(timeout=30)
            world.app.run([f"{cases.BUILD}/ctxprop", "detach", "--force"], check=False)


@case
def drain_as_a_program():
    """--drain: takes over what is there, edits nothing, ends when the last connection has."""
    with pair() as world, contextlib.ExitStack() as stack:
        with joined(world.app, world.peer, Pair.PEER) as (c, s):
            answered(c, s, [(GET, b"")])
            world.agent.stop()
            drain = world.app.spawn([f"{cases.BUILD}/ctxpropd", "--config", "none", "--store", "none", "--http", "none",
                                     "--policy", "/nonexistent", "--drain"],
                                    stderr=subprocess.PIPE, text=True)
            stack.callback(drain.kill)
            lines = iter(drain.stderr.readline, "")
            equal(any(logged(line, "ready") for line in lines), True, "it starts")
            answered(c, s, [(GET, b"")], [False])
            equal(drain.poll(), None, "it waits for the connection")
        equal(drain.wait(timeout=30), 0, "exit status")
        equal("nothing of ctxpropd is pinned" in refused(world, 1, "stats"), True, "nothing is left")


@case
def requests_in_the_log():
    """--log-level debug: what was decided of each request, and why; the last line names drain."""
    with pair("--log-level", "debug") as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        wait_until(lambda: re.search(r" debug: request sent by process \d+, to 10\.91\.0\.2:\d+: GET /\S*; "
                                     r"header: injected, cause: by-none\S*.*; status 200, \d+ ms; "
                                     r"trace [0-9a-f]{32}, span [0-9a-f]{16} \[request\]\n", world.agent.said()),
                   world.agent.said)
        world.agent.stop()
        equal(len(world.agent.logged("stopped", "`ctxprop drain`")), 1, "the last line names drain")


@case
def connections_in_the_log():
    """--log-level debug: connections that are left alone, each once, and why."""
    with pair("--log-level", "debug") as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        answered(c, s, [(GET, b"")])
        untouched(c, s, b"no request at all\r\n\r\n")
        line = (rf" debug: connection 10\.91\.0\.1:{c.getsockname()[1]} > 10\.91\.0\.2:{s.getsockname()[1]}, "
                r"netns:[0-9a-f]+: left alone: (malformed|not-http) \(.+\); until then 1 requests, 1 headers "
                r"\[connection-left-alone\]\n")
        wait_until(lambda: re.search(line, world.agent.said()), world.agent.said)
        time.sleep(3)  # three more looks
        equal(len(re.findall(line, world.agent.said())), 1, "how often it is told")


@case
def requests_that_are_left_out_of_the_log():
    """Of more requests in a second than the log takes it says how many there were."""
    with pair("--log-level", "debug") as world, joined(world.app, world.peer, Pair.PEER) as (c, s):
        sent = 0
        while not world.agent.logged("requests-left-out"):
            assert sent < 50_000, "no line is left out"
            for _ in range(200):
                c.sendall(GET)
                receive(s, len(GET) + LINE_LENGTH)
                s.sendall(OK)
                receive(c, len(OK))
            sent += 200

        def counted():
            said = world.agent.said()
            left_out = re.findall(r" debug: (\d+) .* \[requests-left-out\]\n", said)
            return len(logged(said, "request", " sent by process ")) + sum(map(int, left_out))

        wait_until(lambda: counted() == sent, lambda: f"{counted()} of {sent}")
