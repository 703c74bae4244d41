# SPDX-License-Identifier: Apache-2.0
"""Texts of strangers that are none: whatever goes out is UTF-8 that can be shown."""
import contextlib
import json
import os
import socket
import sqlite3
import sys
import tempfile
import threading
from pathlib import Path

import cases
from cases import case, equal
from waiting import wait_until
from worlds import pair

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "profile"))
from pprof import Profile  # noqa: E402 (the path is set just above)

PORT, HTTP = 8070, 9470
REQUEST = (b"GET /\xc0.\xc0./winnt/win.ini HTTP/1.1\r\nHost: h\xff\x80\r\n"
           b"User-Agent: a\xc2\x9b2J\xe2\x80\xae\r\nConnection: close\r\n\r\n")
# Named as what it is, so that what no test has thought of is found: C0 but tabs and line ends, DEL, C1, and
# what ends lines or turns their order about.
UNSEEN = {*map(chr, [*range(9), *range(11, 32), *range(0x7f, 0xa0)]), *"\u061c\u200e\u200f\u2028\u2029",
          *map(chr, [*range(0x202a, 0x202f), *range(0x2066, 0x206a)])}
REPAIRED = "/\ufffd.\ufffd./winnt/win.ini"
TABLES = (("trace",), ("top",), ("map",), ("sql", "SELECT * FROM spans, services"),
          ("-j", "sql", "SELECT path, host, user_agent, name FROM spans JOIN services ON services.id = service_id"),
          ("-j", "trace"), ("-j", "map"))


def shown(data, what):
    """The text of some bytes, if all of it can be shown."""
    text = data.decode()  # or UnicodeDecodeError
    equal(sorted(UNSEEN & set(text)), [], f"what is not to be in {what}: {text[:500]!r}")
    return text


@contextlib.contextmanager
def asked(world):
    """Requests come meanwhile."""
    over = threading.Event()

    def ask():
        with world.peer.inside():
            while not over.is_set():
                with socket.create_connection((world.APP, PORT)) as client:
                    client.sendall(REQUEST)
                    client.recv(4096)
    asking = threading.Thread(target=ask)
    asking.start()
    yield
    over.set()
    asking.join()


@contextlib.contextmanager
def served():
    """A Pair with a store and a page, and a server in it; and a folder."""
    with tempfile.TemporaryDirectory(prefix="ctxprop-texts-") as folder, \
            pair("--store", f"{folder}/spans.db", "--http", f"127.0.0.1:{HTTP}") as world:
        world.app.spawn([sys.executable, "-B", HERE / "programs/foreign_server.py", PORT],
                        env={**os.environb, b"OTEL_SERVICE_NAME": b"shop\xff\xe2\x80\xae",
                             b"OTEL_RESOURCE_ATTRIBUTES": b"a.b=\x1b[2J%c3"})
        world.app.wait_port(PORT)
        yield world, Path(folder)


def spans(folder):
    with contextlib.closing(sqlite3.connect(f"file:{folder}/spans.db?mode=ro", uri=True)) as db:
        return db.execute("SELECT path, route, host, user_agent, name, attributes FROM spans JOIN services ON "
                          "services.id = service_id JOIN service_attributes USING (service_id)").fetchall()


def command(world, *words):
    return world.app.run([f"{cases.BUILD}/ctxprop", *words], text=False).stdout


def profiled(world, folder):
    """Two seconds of it, as pprof."""
    with asked(world):
        wait_until(lambda: spans(folder), "a span")
        table = command(world, "profile", "-F", "499", "-d", "2s", "-o", folder / "p.pb.gz")
    return Profile(folder / "p.pb.gz"), table


@case(slow=True)
def in_all_that_goes_out():
    """A path, a host, an agent, a service, an attribute and a process's name, in profiles, tables, JSON and metrics."""
    with served() as (world, folder):
        profile, table = profiled(world, folder)
        equal({text for text in profile.texts if UNSEEN & set(text)}, set(), "texts of the profile")
        equal(f"GET {REPAIRED}" in profile.texts and "s\ufffdh;\ufffd\ufffdop" in profile.texts, True,
              f"what was asked for, and who served it, is among {profile.texts}")
        shown(table, "the table")
        for form in ("folded", "svg"):
            command(world, "profile", "show", folder / "p.pb.gz", "-o", folder / f"p.{form}")
            text = shown((folder / f"p.{form}").read_bytes(), form)
            equal(REPAIRED in (json.dumps(json.loads(text), ensure_ascii=False) if form == "json" else text), True,
                  f"the path is in {form}")
        for line in (folder / "p.folded").read_text().split("\n")[:-1]:
            equal(line.rpartition(" ")[2].isdigit(), True, f"a line of folded stacks: {line!r}")
        equal(spans(folder)[0], (REPAIRED, REPAIRED, "h\ufffd\ufffd", "a\ufffd2J\ufffd", "shop\ufffd\ufffd",
                                 '{"a.b":"\ufffd[2J\ufffd"}'), "the span")
        for words in TABLES:
            shown(command(world, *words), " ".join(words))
        metrics = world.app.run(["curl", "-s", f"http://127.0.0.1:{HTTP}/metrics"], text=False).stdout
        equal(f'route="{REPAIRED}"' in shown(metrics, "metrics"), True, "the route is a label")


@case(slow=True)
def from_older_stores():
    """A store that holds other bytes, as older versions have written them, does not bring them to a terminal."""
    with served() as (world, folder):
        with asked(world):
            wait_until(lambda: spans(folder), "a span")
        world.agent.stop()
        with contextlib.closing(sqlite3.connect(folder / "spans.db")) as db:
            db.text_factory = bytes
            db.execute("UPDATE spans SET path = CAST(x'2fc01bc29b324a' AS TEXT), route = path")
            db.execute("UPDATE services SET name = CAST(x'73e280ae' AS TEXT)")
            db.commit()
        for words in (*TABLES, ("-j", "sql", "SELECT path FROM spans")):
            shown(command(world, *words, "--store", folder / "spans.db"), " ".join(words))
