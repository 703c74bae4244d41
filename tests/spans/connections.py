#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Connections against the truth, and what can be joined without ids.

    here (ctxpropd) --> there (ctxpropd)

    connections.py [--build DIR]

This program opens connections of which it knows what becomes, of a protocol that is no HTTP and of
HTTP. Each has to be in the store of each node that has an end of it, with the addresses, bytes,
times and the outcome that both ends have measured; and what the two stores join by addresses and
positions must be what joins by ids.
"""
import argparse
import contextlib
import errno
import json
import os
import random
import signal
import socket
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from agent import Agent  # noqa: E402 (the path is set just above)
from lab import Lab  # noqa: E402
from opaque import AT_ONCE, HEAD, RESET, read_whole  # noqa: E402
from talk import Reader, request  # noqa: E402
from waiting import wait_until  # noqa: E402
from words import across_nodes  # noqa: E402

NEAR, FAR, NOBODY = "10.98.1.1", "10.98.1.2", "10.98.1.99"
OPAQUE, HTTP, SILENT, CLOSED = 7000, 8000, 7009, 7999
TALKS, REQUESTS = 40, 30
RING_HOLDS = (4 << 20) // (8 + 128)  # records: RECORDS_SIZE, and what each takes (bpf/records.h)
HELD_UP_SECONDS = 7  # a daemon that is held up for longer than ten is told nothing (docs/spans.md)
SLACK_NS = 2_000_000  # between an event of the kernel and a program that reads the clock after it


class Scene:
    """Two nodes with an agent and a store each, and the servers of the second one."""

    def __init__(self, lab, build, folder):
        self.build, self.folder = build, folder
        self.here, self.there = lab.host("here"), lab.host("there")
        lab.link(self.here, self.there, f"{NEAR}/24", f"{FAR}/24")
        self.stores = {host: folder / f"{host.name}.db" for host in (self.here, self.there)}
        self.agents = [Agent(host, build, "--store", store) for host, store in self.stores.items()]
        log = folder / "app.log"
        for argv, port in (([HERE / "opaque.py", OPAQUE], OPAQUE), ([HERE / "app.py", HTTP, log], HTTP)):
            self.server = self.there.spawn([sys.executable, "-B", *argv],
                                           env={**os.environ, "OTEL_SERVICE_NAME": f"port-{port}"})
            self.there.wait_port(port)
        self.there.run(["nft", "add table ip t; add chain ip t in { type filter hook input priority 0; };"
                        f"add rule ip t in tcp dport {SILENT} drop"])

    def connect(self, address, port, **options):
        """A connection from here: (socket, when it began, when it was there)."""
        with self.here.inside():
            stream = socket.socket()
        for (level, name), value in options.get("set", {}).items():
            stream.setsockopt(level, name, value)
        begin = clock()
        try:
            stream.connect((address, port))
        except OSError as error:
            return stream, begin, error
        return stream, begin, clock()

    def rows(self, host, query):
        with contextlib.closing(sqlite3.connect(f"file:{self.stores[host]}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query)]

    def connections(self, host):
        """{(side, local port, remote port): [row]}"""
        found = {}
        for row in self.rows(host, "SELECT connections.*, name AS service FROM connections "
                             "JOIN services ON services.id = service_id"):
            key = row["side"], row["local_port"], row["remote_port"]
            found.setdefault(key, []).append(row)
        return found

    def sql(self, query):
        """What `ctxprop sql` says of both stores."""
        ran = self.here.run([f"{self.build}/ctxprop", "sql", "-j", "--store", self.stores[self.here],
                             "--attach", self.stores[self.there], query])
        return json.loads(ran.stdout)


def clock():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


class Check:
    """Collects what is wrong, in words."""

    def __init__(self, scene):
        self.scene, self.wrong, self.checked = scene, [], 0

    def same(self, what, got, wanted):
        self.checked += 1
        if got != wanted:
            self.wrong.append(f"{what}: {got!r}, not {wanted!r}")

    def between(self, what, least, got, most):
        self.checked += 1
        if got is None or not least - SLACK_NS <= got <= most + SLACK_NS:
            self.wrong.append(f"{what}: {got}, not from {least} to {most}")

    def end(self, host, *key):
        """The only record of one end; waits for it."""
        wait_until(lambda: key in self.scene.connections(host), f"a record of {key} at {host.name}")
        rows = self.scene.connections(host)[key]
        self.same(f"records of {key}", len(rows), 1)
        return rows[0]


def talk(scene, size, answer):
    """One connection of the opaque protocol, until the server has closed it."""
    stream, begin, there = scene.connect(FAR, OPAQUE)
    port = stream.getsockname()[1]
    stream.sendall(HEAD.pack(size, answer) + b"x" * size)
    read_whole(stream, answer)
    last = stream.recv(1)
    stream.close()
    return {"port": port, "begin": begin, "there": there, "end": clock(), "last": last,
            "sent": HEAD.size + size, "got": answer}


def check_talk(check, told):
    scene = check.scene
    mine = check.end(scene.here, "client", told["port"], OPAQUE)
    theirs = check.end(scene.there, "server", OPAQUE, told["port"])
    for end, other, sent, got in ((mine, theirs, "sent", "got"), (theirs, mine, "got", "sent")):
        check.same("bytes sent", end["bytes_sent"], told[sent])
        check.same("bytes received", end["bytes_received"], told[got])
        check.same("outcome", end["outcome"], "closed")
        check.same("numbers", end["first_sent"], other["first_received"])
        check.same("address", end["local_address"], other["remote_address"])
    check.same("who opened it", (mine["pid"], mine["tid"]), (os.getpid(), os.getpid()))
    check.same("service", theirs["service"], f"port-{OPAQUE}")
    check.between("opened", told["begin"], mine["opened_ns"], told["there"])
    check.between("established", mine["opened_ns"], mine["established_ns"], told["there"])
    check.between("established there", mine["opened_ns"], theirs["established_ns"], told["end"])
    check.between("closed", told["there"], mine["closed_ns"], told["end"])
    check.same("a round trip was measured", mine["rtt_us"] > 0, True)


def check_opaque(check):
    numbers = random.Random(7)
    told = [talk(check.scene, numbers.randrange(100_000), numbers.randrange(100_000))
            for _ in range(TALKS)]
    for one in told:
        check_talk(check, one)


def check_ends(check):
    """Each way in which a connection can end."""
    scene = check.scene
    once = {(socket.IPPROTO_TCP, socket.TCP_SYNCNT): 1}
    for address, port, wanted, options in ((FAR, CLOSED, "refused", {}), (FAR, SILENT, "timeout", once),
                                           (NOBODY, OPAQUE, "unreachable", {})):
        stream, begin, error = scene.connect(address, port, set=options)
        check.same(f"{wanted}: connected", isinstance(error, OSError), True)
        stream.close()
        ended = clock()
        wait_until(lambda p=port, a=address: ends_of(scene, a, p), f"the end that is {wanted}")
        (end,) = ends_of(scene, address, port)
        check.same(wanted, (end["outcome"], end["established_ns"], end["first_sent"]),
                   (wanted, None, None))
        check.between(f"{wanted}: closed", begin, end["closed_ns"], ended)
    check_resets(check)


def ends_of(scene, address, port):
    return [row for rows in scene.connections(scene.here).values() for row in rows
            if (row["remote_address"], row["remote_port"]) == (address, port)]


def check_resets(check):
    scene = check.scene
    stream, *_ = scene.connect(FAR, OPAQUE)
    port = stream.getsockname()[1]
    stream.sendall(HEAD.pack(0, RESET))
    with contextlib.suppress(ConnectionResetError):
        stream.recv(1)
    stream.close()
    check.same("reset", check.end(scene.here, "client", port, OPAQUE)["outcome"], "reset")
    check.same("it was aborted", check.end(scene.there, "server", OPAQUE, port)["outcome"], "aborted")
    stream, *_ = scene.connect(FAR, OPAQUE)
    port = stream.getsockname()[1]
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    stream.close()
    check.same("aborted", check.end(scene.here, "client", port, OPAQUE)["outcome"], "aborted")
    check.same("it was reset", check.end(scene.there, "server", OPAQUE, port)["outcome"], "reset")


def check_older(check, stream):
    """A connection from before the agents: its end is told, and nothing that is not known."""
    port = stream.getsockname()[1]
    stream.sendall(HEAD.pack(0, 5))
    read_whole(stream, 5)
    stream.close()
    end = check.end(check.scene.here, None, port, OPAQUE)
    check.same("older", [end[name] for name in ("side", "opened_ns", "first_sent", "outcome")],
               [None, None, None, "closed"])


def ask(stream, reader, number):
    stream.sendall(request(f"/position/{number}"))
    reader.message()


def check_requests(check):
    """Calls join by position as they do by ids; every one behind the first has edits before it."""
    scene = check.scene
    stream, *_ = scene.connect(FAR, HTTP)
    port, reader = stream.getsockname()[1], Reader(stream)
    for number in range(REQUESTS):
        ask(stream, reader, number)
    stream.close()
    mine, theirs = check.end(scene.here, "client", port, HTTP), check.end(scene.there, "server", HTTP, port)
    check.same("bytes that were added", theirs["bytes_received"] - mine["bytes_sent"], REQUESTS * 70)
    for host, kind in ((scene.here, 3), (scene.there, 2)):
        spans = scene.rows(host, f"SELECT path, outcome FROM spans WHERE kind = {kind}")
        check.same(f"spans at {host.name}", sorted(span["path"] or "" for span in spans),
                   sorted(f"/position/{number}" for number in range(REQUESTS)))
    by_ids = scene.sql("SELECT client.id AS client, server.id AS server FROM spans AS client JOIN "
                       "other.spans AS server ON server.trace_id = client.trace_id AND "
                       "server.parent_id = client.span_id WHERE client.kind = 3 ORDER BY 1")
    check.same("requests that join by ids", len(by_ids), REQUESTS)
    by_position = scene.sql(across_nodes("calls"))
    check.same("requests that join by position",
               sorted((row["client_id"], row["server_id"]) for row in by_position),
               [(row["client"], row["server"]) for row in by_ids])
    check.same("sockets", {row["socket_cookie"] for row in scene.rows(scene.here, "SELECT "
                           "socket_cookie FROM spans WHERE kind = 3")}, {mine["socket_cookie"]})
    check.same("sockets there", {row["socket_cookie"] for row in scene.rows(
        scene.there, "SELECT socket_cookie FROM spans WHERE kind = 2")}, {theirs["socket_cookie"]})


def check_joined(check):
    """The ends of both stores, joined: each connection that both sides have established."""
    scene = check.scene
    joined = scene.sql(across_nodes("ends"))
    wanted = [row for rows in scene.connections(scene.here).values() for row in rows
              if row["side"] == "client" and row["established_ns"]]
    check.same("connections that join", sorted(row["client_id"] for row in joined),
               sorted(row["id"] for row in wanted))


def check_here(check):
    """Both ends on one node, in one store."""
    scene = check.scene
    scene.here.spawn([sys.executable, "-B", HERE / "app.py", HTTP, scene.folder / "here.log"])
    scene.here.wait_port(HTTP)
    stream, *_ = scene.connect("127.0.0.1", HTTP)
    reader, port = Reader(stream), stream.getsockname()[1]
    for number in range(5):
        ask(stream, reader, number)
    stream.close()
    check.end(scene.here, "client", port, HTTP)
    check.end(scene.here, "server", HTTP, port)
    ends = scene.rows(scene.here, "SELECT * FROM connection_ends")
    check.same("ends that join here", [(row["address"], row["port"], row["received"] - row["sent"])
                                       for row in ends], [("127.0.0.1", HTTP, 5 * 70)])
    check.same("calls that join here", scene.rows(
        scene.here, "SELECT client_id, server_id FROM calls_by_position ORDER BY 1"), scene.rows(
            scene.here, "SELECT client.id AS client_id, server.id AS server_id FROM spans AS client "
            "JOIN spans AS server ON server.parent_id = client.span_id ORDER BY 1"))
    check.same("of them", len(scene.rows(scene.here, "SELECT * FROM calls_by_position")), 5)


def refuse_many(scene, count):
    """So many connections on loopback that nobody takes."""
    with scene.here.inside():
        for _ in range(count):
            with socket.socket() as stream:
                check = stream.connect_ex(("127.0.0.1", CLOSED))
                assert check == errno.ECONNREFUSED, check


def check_lost(check):
    """While the daemon is held up the ring fills: what is lost then is counted, each one."""
    scene, agent, count = check.scene, check.scene.agents[0], 0

    def lost():
        return agent.stats().get("connection-lost", 0)

    def stored():
        return len(ends_of(scene, "127.0.0.1", CLOSED))

    agent.process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    while count < RING_HOLDS + 1000 and time.monotonic() < begin + HELD_UP_SECONDS:
        refuse_many(scene, 1000)
        count += 1000
    told_lost = lost()
    agent.process.send_signal(signal.SIGCONT)
    if count > RING_HOLDS:
        check.same("some were lost", told_lost > 0, True)
    else:
        print(f"# the ring was not filled: only {count} connections in {HELD_UP_SECONDS} s")
    wait_until(lambda: stored() + lost() >= count, lambda: f"{stored()} stored, {lost()} lost of {count}")
    check.same("stored and lost", stored() + lost(), count)


def check_one_daemon(check):
    """One daemon for both namespaces: both ends are in its store."""
    scene = check.scene
    for agent in scene.agents:
        agent.remove()
    store = scene.folder / "one.db"
    agent = Agent(scene.here, scene.build, "--store", store, "--netns", scene.there.netns)
    agent.wait_attached(f"{scene.there.netns}/eth0")
    told = [talk(scene, 1000 * number, 10) for number in range(5)]
    scene.stores[scene.here] = store

    def ends():
        return scene.rows(scene.here, "SELECT sent, received FROM connection_ends ORDER BY sent")

    wait_until(lambda: len(ends()) >= len(told), lambda: f"ends of one daemon: {ends()}")
    check.same("ends of one daemon", ends(), [{"sent": one["sent"], "received": one["sent"]}
                                              for one in told])


def play(scene, check):
    with scene.here.inside():
        older = socket.socket()
    for agent in scene.agents:
        agent.stop()
    older.connect((FAR, OPAQUE))
    for agent in scene.agents:
        agent.start()
    check_older(check, older)
    check_opaque(check)
    check_ends(check)
    check_requests(check)
    check_joined(check)
    check_here(check)
    for agent in scene.agents:
        check.same("records that were lost", agent.stats().get("connection-lost"), 0)
    check_lost(check)
    check_one_daemon(check)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build folder (build)")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="ctxprop-connections-") as folder, Lab("conn") as lab:
        scene = Scene(lab, Path(args.build).resolve(), Path(folder))
        check = Check(scene)
        play(scene, check)
    print(f"{'not ok' if check.wrong else 'ok'} - connections: {check.checked} facts, "
          f"{len(check.wrong)} wrong")
    for line in check.wrong[:10]:
        print(f"# {line}")
    print(f"{int(not check.wrong)} passed, {int(bool(check.wrong))} failed, 0 skipped")
    return int(bool(check.wrong))


if __name__ == "__main__":
    sys.exit(main())
