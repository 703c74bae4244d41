# SPDX-License-Identifier: Apache-2.0
"""The netlink socket of the daemon: who may ask what, bad messages, who listens for changes."""
import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

import cases
from cases import case, equal
from policy_command import NOBODY, PORT, done, fresh, refused, restored
from waiting import wait_until
from worlds import pair

NEW, DELETE, GET_RULES = 0x10, 0x11, 0x12
REQUEST, ACK, DUMP = 1, 4, 0x300


@case
def other_users():
    """Nobody but root changes anything; to ask takes membership in --readers."""
    world = fresh()
    equal(refused(world, 1, "policy", "flush", user=NOBODY), "only root may change this", "flush")
    equal(refused(world, 1, "policy", "add", "action", "skip", user=NOBODY),
          "only root may change this", "add")
    equal(refused(world, 1, "policy", user=NOBODY), "only root may ask for this", "show")
    equal(refused(world, 1, "monitor", user=NOBODY), "monitor: only with CAP_NET_ADMIN", "monitor")
    equal(done(world, "policy", "save"), "", "nothing was changed")
    with pair("--readers", "nogroup") as readable:
        equal(len(done(readable, "policy", user=NOBODY).splitlines()), 3, "a reader sees rules")
        equal(refused(readable, 1, "policy", "flush", user=NOBODY), "only root may change this",
              "a reader changes nothing")


# User 0 of the host, as in a container that shares the network namespace only.
POWERLESS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
# What it may try by itself: to enter the group, to send without, and to claim another process's id.
ORDERS = """
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 2)
s.settimeout(10)
for group in (2, 1):
    try:
        s.setsockopt(270, 1, group)
        sys.exit("it got into group %%d" %% group)
    except PermissionError:
        pass
s.bind((0, 0))
for kind in (0x13, 0x19):
    s.sendto(struct.pack("<IHHII", 20, kind, 5, 1, 0) + b"\\1\\0\\0\\0", (%d, 0))
    error, = struct.unpack_from("<i", s.recv(65536), 16)
    print(error)
"""


@case
def root_without_capabilities():
    """User 0 who lacks CAP_NET_ADMIN neither asks nor changes anything, by whatever he sends."""
    world = fresh()
    for words in (("policy", "flush"), ("detach", "dev", "lo"), ("policy", "add", "action", "skip")):
        ended = world.app.run([*POWERLESS, f"{cases.BUILD}/ctxprop", *words], check=False)
        equal((ended.returncode, "only root with CAP_NET_ADMIN" in ended.stderr), (1, True),
              f"{words}: {ended.stderr}")
    ended = world.app.run([*POWERLESS, f"{cases.BUILD}/ctxprop", "policy"], check=False)
    equal("only root may ask for this" in ended.stderr, True, ended.stderr)
    ended = world.app.run([*POWERLESS, "/usr/bin/python3", "-c", ORDERS % PORT], check=False)
    equal((ended.stderr, ended.stdout.split()), ("", ["-1", "-1"]), "what raw messages are answered")
    equal(done(world, "policy", "save"), "", "nothing was changed")


@case
def from_another_pid_namespace():
    """The log names who has ordered something by the process id that the host knows."""
    world = fresh()
    order = f"{cases.BUILD}/ctxprop pause >/dev/null && {cases.BUILD}/ctxprop resume >/dev/null; echo done; read -r _"
    with world.app.spawn(["unshare", "--pid", "--fork", "sh", "-c", order], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True) as shell:
        shell.stdout.readline()
        said = re.findall(r"(?:paused|resumed): by process (\d+) of user 0 \[ordered\]", world.agent.said())
        shell.stdin.close()
    equal([int(pid) > shell.pid for pid in said[-2:]], [True, True], f"ids {said}, of children of {shell.pid}")


SQUATTER = """
import os, socket, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 2)
s.bind((%d, 0))
os.setuid(%d)
print("ready", flush=True)
while True:
    data, (port, _) = s.recvfrom(65536)
    sequence = data[8:12]
    answer = b"\\x00" * 4 + data[:16]
    head = (16 + len(answer)).to_bytes(4, "little") + b"\\x02\\x00\\x00\\x01" + sequence
    s.sendto(head + data[12:16] + answer, (port, 0))
"""


@contextlib.contextmanager
def squatting(world):
    """Another user's program at the daemon's port."""
    squat = world.app.spawn(["/usr/bin/python3", "-c", SQUATTER % (PORT, NOBODY)],
                            stdout=subprocess.PIPE, text=True)
    equal(squat.stdout.readline(), "ready\n", "the squatter")
    yield f"what answers at the daemon's port does not belong to root: process {squat.pid} of user " \
          f"{NOBODY}"
    squat.kill()
    squat.wait()


@case
def squatter():
    """Another user's program answers in the daemon's place: the command does not believe it."""
    with pair(agent=False) as world, squatting(world) as complaint:
        equal(refused(world, 1, "policy", "flush"), complaint, "the command")
        equal(refused(world, 1, "policy"), complaint, "a question")


@case
def squatter_before_the_daemon():
    """The port is taken when the daemon starts: it has another one, and root's commands find it."""
    with pair(agent=False) as world:
        with squatting(world) as complaint:
            world.start_agent()
            world.agent.wait_logged("port-taken")
            done(world, "policy", "add", "action", "skip")
            equal(done(world, "policy", "save"), "policy add prio 100 dir out action skip\n", "policy")
            done(world, "policy", "flush")
            equal(without_times(told_by_monitor(world)), TOLD, "what monitor says")
            # Other users cannot look for it; they are not told lies at least.
            equal(refused(world, 1, "policy", user=NOBODY), complaint, "another user's command")
            world.agent.stop(signal.SIGKILL)
            equal(refused(world, 1, "policy")[:45],
                  "no ctxpropd runs in this network namespace; s", "the daemon is gone")
            world.agent.start()
            equal(done(world, "policy", "save"), "", "policy of the next daemon")
        world.agent.stop()
        world.agent.start()
        equal(done(world, "policy", "save"), "", "policy, at the usual port")
        equal(refused(world, 1, "policy", user=NOBODY), "only root may ask for this", "another user")


SOL_NETLINK, ADD_MEMBERSHIP, RIGHT_GROUP = 270, 1, 2  # CONTROL_RIGHT_GROUP (agent/control/protocol.h)


def admin(host, room=None):
    """A socket that shows that it was made with CAP_NET_ADMIN."""
    with host.inside():
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 2)
    if room:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    sock.bind((0, 0))
    sock.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, RIGHT_GROUP)
    return sock


def message(kind, flags, payload=b"\1\0\0\0", sequence=1, length=None):
    size = 16 + len(payload) if length is None else length
    return struct.pack("<IHHII", size, kind, flags, sequence, 0) + payload


def answer_of(sock):
    """(errno, text) of an acknowledgement."""
    data = sock.recv(65536)
    size, kind, _, _, _, error = struct.unpack_from("<IHHIIi", data)
    equal((size, kind), (len(data), 2), "an acknowledgement")
    text = data[16 + 20 + 4:].rstrip(b"\0").decode() if len(data) > 36 else ""
    return error, text


@case
def hostile_messages():
    """Short, long, unknown and senseless messages are refused or ignored; the daemon lives on."""
    world = fresh()
    with admin(world.app) as sock:
        sock.settimeout(5)
        for sent, error in ((message(0x999, REQUEST | ACK), -95), (message(NEW, REQUEST | ACK), -22),
                            (message(NEW, REQUEST | ACK, b""), -22),
                            (message(NEW, REQUEST | ACK, b"\2\0\0\0"), -93),
                            (message(GET_RULES, REQUEST), -22),
                            (message(NEW, REQUEST | ACK, b"\1\0\0\0\xff\xff\1\0"), -22),
                            (message(DELETE, REQUEST | ACK, b"\1\0\0\0\4\0\x63\0"), -22)):
            sock.sendto(sent, (PORT, 0))
            equal(answer_of(sock)[0], error, f"the answer to {sent!r}")
        for _ in range(300):
            sock.sendto(os.urandom(int.from_bytes(os.urandom(1), "big") + 1), (PORT, 0))
        for length in (0, 3, 15, 17, 10_000, 0x7fffffff, 0x80000000, 0xf0000000, 0xffffffff):
            sock.sendto(message(NEW, REQUEST, length=length), (PORT, 0))
        sock.sendto(message(2, REQUEST | ACK, b"\0" * 20), (PORT, 0))
    equal(done(world, "policy", "save"), "", "nothing was changed")


@case
def readers_who_do_not_read():
    """Who asks and never reads the answer does not stop the daemon."""
    world = fresh()
    restored(world, *(f"policy add prio {i} to 10.1.{i // 250}.{i % 250} action skip"
                      for i in range(1000)))
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            sock = stack.enter_context(admin(world.app, 2048))
            sock.sendto(message(GET_RULES, REQUEST | DUMP), (PORT, 0))
        begin = time.monotonic()
        equal(len(done(world, "policy").splitlines()), 1003, "rules shown to who does read")
        equal(time.monotonic() - begin < 20, True, "in time")


ASK_OFTEN = """
import contextlib, socket, struct, time
ask = struct.pack("<IHHII", 20, 0x12, 0x301, 1, 0) + b"\\1\\0\\0\\0"
def asker():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 2)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sock.bind((0, 0))
    return sock
kept = [asker() for _ in range(40)]
kept[0].sendto(ask * 5000, (%d, 0))
print("asked", flush=True)
with contextlib.suppress(ConnectionRefusedError): # the daemon has ended
    while True:
        for sock in kept:
            sock.sendto(ask, (%d, 0))
        time.sleep(0.1)
"""


@case
def readers_who_ask_too_much():
    """Members of --readers who ask thousands of times at once, again and again, and do not read the answers: others are
    answered, and the daemon ends in time"""
    with pair("--readers", "nogroup") as world:
        restored(world, *(f"policy add prio {i} to 10.1.{i // 250}.{i % 250} action skip" for i in range(1000)))
        asker = world.app.spawn(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "/usr/bin/python3",
                                 "-c", ASK_OFTEN % (PORT, PORT)], stdout=subprocess.PIPE, text=True)
        equal(asker.stdout.readline(), "asked\n", "a reader")
        for _ in range(3):
            begin = time.monotonic()
            equal(len(done(world, "policy").splitlines()), 1003, "rules shown to root")
            equal(time.monotonic() - begin < 10, True, "in time")
        world.agent.process.send_signal(signal.SIGTERM)
        world.agent.process.wait(timeout=10)


MANY = """
import socket, struct
sock = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 2)
sock.settimeout(5)
sock.bind((0, 0))
sock.sendto(struct.pack("<IHHII4x", 20, %d, 5, 1, 0) * 5000, (%d, 0))
sock.sendto(struct.pack("<IHHII4x", 20, %d, 5, 2, 0), (%d, 0))
answers = [struct.unpack_from("<I", sock.recv(65536), 8)[0]]
while answers[-1] != 2:
    answers += [struct.unpack_from("<I", sock.recv(65536), 8)[0]]
print(len(answers))
"""


@case
def many_messages_at_once():
    """Of thousands of messages in one datagram of a stranger's only the first ones are looked at"""
    world = fresh()
    for kind in (0x999, 0x13):
        ended = world.app.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "/usr/bin/python3", "-c",
                               MANY % (kind, PORT, kind, PORT)], check=False)
        equal((ended.stderr, ended.stdout), ("", "33\n"), f"answers to messages of type {kind:#x}")


TOLD = ["set x add 10.0.0.0/8\n", "100:\tdir out to x action skip\n",
        "deleted 100:\tdir out to x action skip\n", "set x flush\n", "flushed\n", "restored\n",
        "paused\n", "resumed\n"]
TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  ")


def told_by_monitor(world, *options):
    """What `ctxprop monitor` says, line by line, while rules and sets change."""
    listener = world.app.spawn([f"{cases.BUILD}/ctxprop", "monitor", *options],
                               stdout=subprocess.PIPE, text=True)
    wait_until(lambda: "ctxprop/" in world.app.run(["ss", "-Hf", "netlink"]).stdout,
               "the monitor listens")
    time.sleep(0.2)
    done(world, "set", "x", "add", "10.0.0.0/8")
    done(world, "policy", "add", "to", "x", "action", "skip")
    done(world, "policy", "del", "prio", "100")
    done(world, "set", "x", "flush")
    done(world, "policy", "flush")
    refused(world, 1, "policy", "del", "prio", "1")
    restored(world)
    done(world, "pause")
    done(world, "resume")
    said = [listener.stdout.readline() for _ in TOLD]
    listener.terminate()
    return said


def without_times(lines):
    for line in lines:
        equal(TIME.match(line) is not None, True, f"a time before {line!r}")
    return [TIME.sub("", line) for line in lines]


@case
def monitor():
    """What changes is told as it happens."""
    equal(without_times(told_by_monitor(fresh())), TOLD, "what monitor says")


@case
def monitor_json():
    """The same with -j: one document per line."""
    told = [json.loads(line) for line in told_by_monitor(fresh(), "-j")]
    equal([news["event"] for news in told],
          ["set-added", "rule", "rule-deleted", "set-flushed", "flushed", "restored", "paused",
           "resumed"], "events")
    equal((told[0]["set"]["networks"], told[1]["rule"]["action"], told[2]["prio"],
           told[2]["rule"]), (["10.0.0.0/8"], "skip", 100, told[1]["rule"]), "what they say")
    now = time.time() * 1000
    equal(all(now - 60_000 < news["time_ms"] <= now for news in told), True, f"times: {told}")
