# SPDX-License-Identifier: Apache-2.0
"""The store of spans where things go wrong around it: no room, strangers' locks, a damaged or
removed file, kill -9. The daemon goes on, says what is lost, and stores again."""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import traffic
from daemon import wait_for

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "see"))

from filled import fill  # noqa: E402 (the path is set just above)

KILLS = 5
SPANS_OF_ONE = 2  # of a request: it is sent and served on the same host
LOST, AGAIN = "[store-failing]", "[store-recovered]"


NAMES, SHARE = 700, 512
# Processes with names of their own, each of which asks once: port, how many.
CROWD = r"""
for ((i = 0; i < $2; i++)); do
    OTEL_SERVICE_NAME=name-$i bash -c "exec 3<>/dev/tcp/127.0.0.1/$1 &&
        printf 'GET /crowd HTTP/1.1\\r\\nHost: h\\r\\nConnection: close\\r\\n\\r\\n' >&3 &&
        cat <&3 >/dev/null; sleep 1" &
    ((i % 50)) || wait
done
wait
"""


FLOOD = 8000  # requests, with a span at both ends, for a store of 2 MiB
# Somebody's server, and his client, who asks so often.
FLOODER = r"""
import socket, sys, threading

def serve(connection):
    while connection.recv(4096):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
for number in range(int(sys.argv[1])):
    client.sendall(b"GET /flood HTTP/1.1\r\nHost: h\r\n\r\n")
    client.recv(4096)
"""


class Stored:
    """An agent that stores in a folder, and a client of a server on its host."""

    def __init__(self, bench, folder, *options):
        self.bench, self.path = bench, Path(folder) / "spans.db"
        self.options = options
        self.start()
        self.server = traffic.serve(bench.node)
        self.client = traffic.Client(bench.node, self.server)

    def start(self):
        self.bench.start("--store", self.path, *self.options)

    def close(self):
        self.client.close()
        self.server.shutdown()

    def ask(self, sql):
        """The first number that a question to the store gives."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute(sql).fetchone()[0]

    def dump(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as db:
            return db.execute("SELECT kind, method, path, host, user_agent, status, request_bytes "
                              "FROM spans").fetchall()

    def count(self):
        return self.ask("SELECT count(*) FROM spans")

    def is_made(self):
        with contextlib.suppress(sqlite3.OperationalError):
            return self.count() >= 0
        return False

    def send(self, count):
        """So many requests, each with its header."""
        headers = [self.client.request() for _ in range(count)]
        self.bench.check(headers == [1] * count, f"{count} requests are edited", headers)

    def stores(self, count, what):
        """Requests that are sent now are stored, all of them."""
        before = self.count()
        self.send(count)
        wanted = before + SPANS_OF_ONE * count
        self.bench.check(wait_for(lambda: self.count() == wanted, 10), what,
                         f"{self.count()} spans, not {wanted}\n{self.bench.agent.log()}")

    def is_whole(self):
        return self.ask("PRAGMA integrity_check") == "ok" and self.ask(
            "SELECT count(*) FROM (SELECT 1 FROM spans GROUP BY trace_id, span_id "
            "HAVING count(*) > 1)") == 0


@contextlib.contextmanager
def stored(bench, *options, folder=None):
    with tempfile.TemporaryDirectory(prefix="ctxprop-store-") as own:
        scene = Stored(bench, folder or own, *options)
        try:
            yield scene
        finally:
            scene.close()


@contextlib.contextmanager
def small_disk(mib):
    with tempfile.TemporaryDirectory(prefix="ctxprop-disk-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "disk", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def case_store_bounds(bench):
    """--store-age and --store-size hold for what an earlier daemon has stored, too."""
    for option, value in (("--store-age", "10"), ("--store-age", "1s"), ("--store-size", "64MB"),
                          ("--store-size", "1K")):
        refused = bench.agent.daemon(option, value)
        bench.check(refused.returncode == 2 and f"{option} {value}: expected" in refused.stderr,
                    f"{option} {value} is refused", refused.stderr)
    with stored(bench) as scene:
        bench.agent.stop()
        fill(scene.path, 60_000)
        before = scene.count()
        scene.options = ("--store-age", "30m")
        scene.start()
        old = f"SELECT count(*) FROM spans WHERE start_ns < {time.time_ns() - 1800 * 10**9}"
        bench.check(wait_for(lambda: scene.ask(old) == 0, 20) and 0 < scene.count() < before,
                    "--store-age 30m removes what is older, and nothing else",
                    f"{scene.count()} of {before} spans, {scene.ask(old)} too old")
        bench.agent.stop()
        scene.options = ("--store-size", "2M")
        size = scene.path.stat().st_size
        scene.start()
        bench.check(wait_for(lambda: scene.path.stat().st_size <= 2 << 20, 20) and scene.count(),
                    f"--store-size 2M makes a file of {size >> 20} MiB smaller",
                    f"{scene.path.stat().st_size} bytes, {scene.count()} spans")
        bench.check(size > 4 << 20 and scene.is_whole(), "which was larger, and is whole")


def case_store_full(bench):
    """A full disk loses spans, and nothing else; with room they are stored again."""
    with small_disk(8) as folder, stored(bench, folder=folder) as scene:
        scene.stores(5, "spans are stored while there is room")
        ballast = folder / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        scene.send(400)
        bench.check(bench.agent.logs("store-failing", "database or disk is full", seconds=10), "a full disk is said",
                    bench.agent.log())
        scene.send(400)
        time.sleep(2.5)  # two more tries
        bench.check(bench.agent.log().count(LOST) == 1, "once", bench.agent.log())
        ballast.unlink()
        time.sleep(1.5)  # until it tries again
        scene.stores(20, "spans are stored again when there is room")
        bench.check(AGAIN in bench.agent.log() and scene.is_whole(), "which is said",
                    bench.agent.log())
        stored_of_805 = scene.count() - SPANS_OF_ONE * 20
        bench.agent.stop()
        lost = SPANS_OF_ONE * 805 - stored_of_805
        bench.check(0 < lost and bench.agent.logs("spans-lost", f" {lost} spans ", seconds=0),
                    f"{lost} lost spans are counted", bench.agent.log())


def case_store_reader(bench):
    """A reader with an open transaction keeps nobody from writing, and sees its moment."""
    with stored(bench) as scene:
        scene.stores(5, "spans are stored")
        with contextlib.closing(sqlite3.connect(scene.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            seen = reader.execute("SELECT count(*) FROM spans").fetchone()[0]
            scene.stores(50, "and with a reader in the middle of its transaction")
            now = reader.execute("SELECT count(*) FROM spans").fetchone()[0]
            bench.check(now == seen, "who sees what was there when it began", (now, seen))
        bench.check(LOST not in bench.agent.log(), "nothing is lost", bench.agent.log())


def case_store_names(bench):
    """Somebody with hundreds of names has a share of them, and what he sends is stored all the same."""
    with stored(bench) as scene:
        scene.stores(5, "spans of others are stored")
        argv = ["setpriv", "--reuid", "4321", "--regid", "4321", "--clear-groups", "bash", "-c", CROWD,
                "crowd", str(scene.server.server_address[1]), str(NAMES)]
        bench.node.run(argv, timeout=120)
        of_crowd = ("SELECT count({}) FROM spans JOIN services ON services.id = service_id WHERE kind = 3 "
                    "AND path = '/crowd'{}")
        bench.check(wait_for(lambda: scene.ask(of_crowd.format("*", "")) == NAMES, 20),
                    f"{NAMES} requests are stored", scene.ask(of_crowd.format("*", "")))
        named = scene.ask(of_crowd.format("DISTINCT name", " AND name GLOB 'name-*'"))
        others = scene.ask(of_crowd.format("*", " AND name = '_OTHER'"))
        bench.check(400 < named <= SHARE and others > 50, f"{named} names of a share, and others",
                    f"{named} names, {others} of others")
        scene.stores(5, "so are those of others")


def case_store_flood(bench):
    """A stranger's spans do not push others' out of a store that is too small for both."""
    with stored(bench, "--store-size", "2M") as scene:
        scene.stores(50, "spans of others are stored")
        others = "SELECT count(*) FROM spans JOIN services ON services.id = service_id WHERE owner = 'uid 0'"
        strangers = others.replace("uid 0", "uid 4321")
        before = scene.ask(others)
        argv = ["setpriv", "--reuid", "4321", "--regid", "4321", "--clear-groups", sys.executable, "-c", FLOODER, str(FLOOD)]
        for _ in range(2):
            bench.node.run(argv, timeout=240)
            kept = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            bench.check(wait_for(lambda: scene.ask(kept) <= 2 << 20, 40), "the store is within its limit", scene.ask(kept))
        bench.check(0 < scene.ask(strangers) < SPANS_OF_ONE * FLOOD, "spans of the stranger's were removed",
                    f"{scene.ask(strangers)} are there")
        bench.check(before >= 100 and scene.ask(others) == before, "those of others are all there",
                    f"{scene.ask(others)} of {before}")


def case_store_locked(bench):
    """A stranger with an exclusive lock: spans are lost, other work goes on."""
    with stored(bench) as scene:
        scene.stores(5, "spans are stored")
        with contextlib.closing(sqlite3.connect(scene.path, isolation_level=None)) as stranger:
            stranger.execute("BEGIN EXCLUSIVE")
            scene.send(100)
            bench.check(bench.agent.logs("store-failing", "database is locked", seconds=10), "the lock is said",
                        bench.agent.log())
            scene.send(100)
            stats = bench.agent.ctxprop("stats", "-j")
            bench.check(stats.returncode == 0 and '"record-lost":0' in
                        stats.stdout.replace(" ", ""), "no record is lost", stats.stdout)
            stranger.execute("ROLLBACK")
        time.sleep(1.5)  # until it tries again
        scene.stores(20, "spans are stored again when it is gone")
        bench.check(bench.agent.log().count(LOST) == 1 and AGAIN in bench.agent.log(),
                    "both is said once", bench.agent.log())


def case_store_killed(bench):
    """kill -9 while spans are written: the store is whole, and no span is there twice."""
    with stored(bench) as scene:
        for round_ in range(KILLS):
            scene.send(100)
            time.sleep(0.03 * round_)
            bench.agent.kill()
            bench.check(scene.is_whole(), f"whole after kill -9 no. {round_ + 1}")
            scene.start()
        # A request whose beginning had been read and whose end had not is lost with its daemon.
        wanted = SPANS_OF_ONE * 100 * KILLS
        least = wanted - SPANS_OF_ONE * KILLS
        wait_for(lambda: scene.count() == wanted, 5)
        bench.check(least <= scene.count() <= wanted and scene.is_whole(),
                    "what had been told and was not stored, the next daemon stores",
                    f"{scene.count()} spans, not {least} to {wanted}")


def case_store_damaged(bench):
    """A file that is overwritten or removed while the daemon runs: a new one begins."""
    with stored(bench) as scene:
        scene.stores(100, "spans are stored")
        bench.agent.stop()
        with scene.path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(scene.path.stat().st_size - 4096))
        scene.start()
        aside = wait_for(lambda: list(scene.path.parent.glob("*-damaged-*")), 20)
        scene.client.request()
        aside = wait_for(lambda: list(scene.path.parent.glob("*-damaged-*")), 20)
        bench.check(len(aside) == 1 and bench.agent.logs("store-damaged", seconds=0),
                    "a damaged file is moved aside", bench.agent.log())
        time.sleep(1.5)  # until it tries again
        scene.stores(10, "and a new one has all that comes then")
        scene.path.unlink()
        bench.check(bench.agent.logs("store-replaced", seconds=20), "a removed file is noticed",
                    bench.agent.log())
        bench.check(wait_for(scene.is_made, 10), "and made anew", bench.agent.log())
        scene.stores(10, "with all that comes then")


def case_store_heads(bench):
    """--redact and --head: what is not to be known of requests is not in the store."""
    for option, value in (("--head", "1025"), ("--head", "all"), ("--redact", "("), ("--redact", "x*")):
        refused = bench.agent.daemon(option, value)
        bench.check(refused.returncode == 2 and f"{option} {value}: expected" in refused.stderr,
                    f"{option} {value} is refused", refused.stderr)
    with stored(bench, "--redact", "[0-9]{13,19}", "--redact", "[a-z]+@[a-z.]+") as scene:
        def paths(wanted, count):
            scene.client.connection.request("GET", "/cards/4111111111111111/x?key=1",
                                            headers={"User-Agent": "robot of bob@example.org"})
            scene.client.connection.getresponse().read()
            sql = ("SELECT count(*) FROM spans WHERE ifnull(path, '-') || ' ' || "
                   f"ifnull(user_agent, '-') = '{wanted}'")
            return wait_for(lambda: scene.ask(sql) == count, 10)

        bench.check(paths("/cards/{redacted}/x robot of {redacted}", SPANS_OF_ONE),
                    "what fits a pattern is replaced", scene.dump())
        bench.agent.stop()
        scene.options = ("--head", "64")
        scene.start()
        bench.check(paths("/cards/4111111111111111/x -", SPANS_OF_ONE),
                    "--head 64 has the path, and no field that is cut", scene.dump())
        bench.agent.stop()
        scene.options = ("--head", "0")
        scene.start()
        bench.check(paths("- -", SPANS_OF_ONE), "--head 0 has neither", scene.dump())
        whole = ("SELECT count(*) FROM spans WHERE path IS NULL AND method IS NULL AND status = 200 "
                 "AND request_bytes > 100")
        bench.check(scene.ask(whole) == SPANS_OF_ONE, "but all the rest", scene.dump())
