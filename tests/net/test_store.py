# SPDX-License-Identifier: Apache-2.0
"""Which store commands read: they ask the daemon where it is."""
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile

import cases
from agent import Agent
from cases import case, equal
from lab import Lab
from policy_command import NOBODY, PORT, done, refused
from worlds import pair

READERS = (("trace",), ("top",), ("map",), ("why", "192.0.2.1"), ("sql", "SELECT 1"), ("profile", "--last", "5"))
NONE = "ctxpropd stores nothing (--store none); another store can be named by --store"
USUAL = "/var/lib/ctxprop/ctxprop.db"
# A daemon from before the question: it knows no message of that type.
OLDER = """
import errno, socket
s = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 2)
s.bind((%d, 0))
s.setsockopt(270, 1, 2)  # SOL_NETLINK, NETLINK_ADD_MEMBERSHIP: CONTROL_RIGHT_GROUP
print("ready", flush=True)
while True:
    data, (port, _) = s.recvfrom(65536)
    answer = (-errno.EOPNOTSUPP).to_bytes(4, "little", signed=True) + data[:16]
    head = (16 + len(answer)).to_bytes(4, "little") + b"\\x02\\x00\\x00\\x01" + data[8:16]
    s.sendto(head + answer, (port, 0))
"""


@contextlib.contextmanager
def stored():
    """A Pair whose daemon stores in a folder of its own, and the path of the store."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-store-") as folder, \
            pair("--store", f"{folder}/spans.db") as world:
        yield world, f"{folder}/spans.db"


def open_files(world, path):
    """The names that `ctxprop sql` has a store by."""
    return json.loads(done(world, "sql", "-j", "SELECT file FROM pragma_database_list", *path))


@case
def of_the_daemon():
    """Commands read the store of the daemon, or the one that --store names."""
    with stored() as (world, store):
        equal(open_files(world, ()), [{"file": store}], "the daemon's")
        for words in READERS[:-1]:
            done(world, *words)
        folder = os.path.dirname(store)
        equal(refused(world, 1, "profile", "--last", "5").startswith(f"profile: {folder}/profiles: "), True,
              "windows are beside it")
        with tempfile.TemporaryDirectory() as other:
            world.app.run(["cp", store, f"{other}/copy.db"])
            equal(open_files(world, ("--store", f"{other}/copy.db")), [{"file": f"{other}/copy.db"}], "another")
        equal("/nowhere/x.db cannot be read: No such file" in refused(world, 1, "trace", "--store", "/nowhere/x.db"),
              True, "one that is not there")


@case(slow=True)
def of_another_namespace():
    """The same in a network namespace that a daemon of another one attends."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-store-") as folder, Lab("net") as lab:
        node, pod = lab.host("node"), lab.host("pod")
        lab.link(node, pod, "10.93.0.1/24", "10.93.0.2/24")
        Agent(node, cases.BUILD, "--store", f"{folder}/spans.db", "--netns", pod.netns)
        for host, words in ((pod, ()), (node, ("--netns", pod.netns))):
            told = host.run([f"{cases.BUILD}/ctxprop", *words, "sql", "-o", "SELECT file FROM pragma_database_list"])
            equal(told.stdout, f"{folder}/spans.db\n", f"from {host.netns}")


@case
def out_of_reach():
    """Where the same path leads to another file, or to none, nothing is read, and it says so."""
    with stored() as (world, store):
        def ask(before, *words):
            return world.app.run(["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none {os.path.dirname(store)} && "
                                  f"{before} && exec \"$@\"", "sh", f"{cases.BUILD}/ctxprop", *words], check=False)

        said = f"ctxprop: ctxpropd (process {world.agent.process.pid}) has its store at {store} in a mount namespace"
        for before in ("true", f"cp {cases.BUILD}/ctxprop {store}"):
            for words in READERS:
                ended = ask(before, *words)
                equal((ended.returncode, ended.stdout, ended.stderr.startswith(said)), (1, "", True), ended.stderr)
        equal(ask("true", "profile", "-d", "0.1").returncode, 0, "a profile without a store")


@case
def none():
    """A daemon without a store, one that may not be asked, an older one, and none."""
    with pair() as world:
        for words in READERS:
            equal(refused(world, 1, *words), NONE, " ".join(words))
        done(world, "profile", "-d", "0.1")
        if not os.path.exists(USUAL):
            equal(refused(world, 1, "trace", user=NOBODY).endswith(
                f"{USUAL} cannot be read: No such file or directory; and only root may ask ctxpropd where its store is"),
                True, "another user")
        world.agent.remove()
        older = world.app.spawn(["/usr/bin/python3", "-c", OLDER % PORT], stdout=subprocess.PIPE, text=True)
        equal(older.stdout.readline(), "ready\n", "an older daemon")
        told = refused(world, 1, "trace", "--store", "/nowhere/x.db")
        equal(told, "the store /nowhere/x.db cannot be read: No such file or directory", "a store that is named")
        if not os.path.exists(USUAL):
            equal(refused(world, 1, "trace").splitlines()[0], "this ctxpropd is an older one, and does not tell where "
                  f"its store is; the store is taken to be {USUAL}", "an older one")
        older.kill()
        older.wait()
        if not os.path.exists(USUAL):
            equal("no ctxpropd runs in this network namespace" in refused(world, 1, "trace"), True, "no daemon")


@case(slow=True)
def asked_by_readers():
    """Who may see the policy may know where the store is; to read it is a right of the file."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-store-") as folder, \
            pair("--store", f"{folder}/spans.db", "--readers", "nogroup") as world:
        os.chmod(folder, 0o755)
        told = refused(world, 1, "trace", user=NOBODY)
        equal(told.startswith(f"the store {folder}/spans.db"), True, told)
        for name in ("spans.db", "spans.db-wal", "spans.db-shm"):
            os.chmod(f"{folder}/{name}", 0o666)
        os.chmod(folder, 0o777)
        done(world, "trace", user=NOBODY)


@case
def as_json():
    """BLOBs are digits, and what is no UTF-8 is replaced: a whole document, whatever stands there."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-store-") as folder:
        store = f"{folder}/made.db"
        with contextlib.closing(sqlite3.connect(store)) as made:
            made.execute("CREATE TABLE made (id BLOB, name TEXT)")
            made.execute("INSERT INTO made VALUES (x'00ff80c3', CAST(x'61ff62' AS TEXT)), (x'', NULL)")
            made.commit()
        told = subprocess.run([f"{cases.BUILD}/ctxprop", "sql", "-j", "--store", store, "SELECT id, name FROM made"],
                              capture_output=True, check=True).stdout
        equal(json.loads(told), [{"id": "00ff80c3", "name": "a\ufffdb"}, {"id": "", "name": None}], "rows")
