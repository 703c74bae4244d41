# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 without TLS, with --http2: every request has one traceparent, and no connection or stream breaks."""
import contextlib
import importlib.util
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import Skip, case, equal, need_program
from firewall import lossy
from waiting import wait_until
from worlds import Pair, counted, pair

PROGRAMS = Path(__file__).parent / "programs"
PORT = 8080
HEADER = re.compile(r"traceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-0[0-3]$", re.M)
OWN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
# What a server says of a peer that breaks the rules (RFC 9113, 7): PROTOCOL_ERROR and others.
ERROR = re.compile(r"error_code=(?!NO_ERROR|CANCEL)\w+|COMPRESSION_ERROR|not valid", re.I)
LOSS = 4  # of a hundred packets


class Server:
    """nghttpd, which writes down each request that it has decoded."""

    def __init__(self, host, folder):
        (folder / "a").write_text("hello\n")
        self.log = folder / "log"
        self.process = host.spawn([need_program("nghttpd"), "--no-tls", "-v", "-d", folder, str(PORT)],
                                  stdout=self.log.open("w"), stderr=subprocess.STDOUT)
        host.wait_port(PORT)

    def end(self):
        """(requests, their traceparents, errors of the protocol)"""
        self.process.terminate()
        self.process.wait()
        text = self.log.read_text(errors="replace")
        return text.count(") :path: /a"), HEADER.findall(text), ERROR.findall(text)


@contextlib.contextmanager
def served(net):
    """A server on the peer; how often it was asked is put into the list that is yielded."""
    with tempfile.TemporaryDirectory() as folder:
        server, seen = Server(net.peer, Path(folder)), []
        try:
            yield seen
        finally:
            seen.extend(server.end())


def curl(net, *words):
    """Ask once. Returns status and protocol."""
    done = net.app.run([need_program("curl"), "-s", "-m", "20", "--http2-prior-knowledge", "-o", "/dev/null", "-w",
                        "%{http_code} %{http_version}", *words, f"http://{Pair.PEER}:{PORT}/a"])
    return done.stdout


def load(net, requests, connections, streams):
    """As many requests by h2load, all of which succeed."""
    done = net.app.run([need_program("h2load"), "-n", requests, "-c", connections, "-m", streams,
                        f"http://{Pair.PEER}:{PORT}/a"], timeout=60)
    equal(re.findall(r"(\d+) succeeded, (\d+) failed, (\d+) errored", done.stdout), [(str(requests), "0", "0")], done.stdout)


def judge(seen, requests, headers):
    """The server has seen so many requests, and so many traceparents, all of which differ."""
    count, found, errors = seen
    equal((count, len(found), len(set(found)), errors), (requests, headers, headers, []),
          "requests, traceparents, different ones, errors")


@contextlib.contextmanager
def serving(net):
    """A server beside the agent."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(net.app, Path(folder))
        try:
            yield
        finally:
            server.end()


def ask(net, *words):
    """The peer asks once."""
    done = net.peer.run([need_program("curl"), "-s", "-m", "20", "--http2-prior-knowledge", "-o", "/dev/null", "-w",
                         "%{http_code} %{http_version}", *words, f"http://{Pair.APP}:{PORT}/a"])
    equal(done.stdout, "200 2", "answer")


def spans_of(path):
    """[(trace, parent)] of what was served, as the store has it; parent "": none."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return list(db.execute("SELECT lower(hex(trace_id)), lower(hex(parent_id)) FROM spans WHERE kind = 2"))


@case
def coming_in():
    """Requests that come in: each is open on its stream until it is answered, in the trace that it names, and has a span"""
    with tempfile.TemporaryDirectory() as folder, pair("--http2", "--store", f"{folder}/spans.db") as net, serving(net):
        with counted(net.agent, served_child=1, served_root=1, served_ended=2, served_cut=0):
            ask(net, "-H", f"traceparent: {OWN}")
            ask(net)
        with counted(net.agent, served_root=800, served_ended=800, served_cut=0):
            done = net.peer.run([need_program("h2load"), "-n", 800, "-c", 4, "-m", 16, f"http://{Pair.APP}:{PORT}/a"],
                                timeout=60)
            equal(re.findall(r"(\d+) succeeded", done.stdout), ["800"], done.stdout)
        wait_until(lambda: len(spans_of(f"{folder}/spans.db")) == 802, "as many spans as requests")
        equal([span for span in spans_of(f"{folder}/spans.db") if span[0] == OWN[3:35]], [(OWN[3:35], OWN[36:52])],
              "the trace and the parent of the first")


@case
def coming_in_with_loss():
    """The same while packets are lost: whatever was open is over in the end"""
    with pair("--http2") as net, serving(net), lossy(net.peer, "input", LOSS), lossy(net.peer, "output", LOSS):
        before = net.agent.stats()
        net.peer.run([need_program("h2load"), "-n", 400, "-c", 4, "-m", 4, f"http://{Pair.APP}:{PORT}/a"], timeout=60)

        def grown(*names):
            after = net.agent.stats()
            return sum(after[name] - before[name] for name in names)

        wait_until(lambda: grown("served-child", "served-root") == grown("served-ended", "served-cut"),
                   lambda: f"an end of each request: {net.agent.stats()}")
        if grown("served-root") < 100:
            raise AssertionError(f"{grown('served-root')} of 400 requests were read")


@case
def switched_off():
    """Without --http2 such connections are left alone, and counted"""
    with pair() as net, served(net) as seen:
        with counted(net.agent, http2=1, injected=0):
            equal(curl(net), "200 2", "answer")
    judge(seen, 1, 0)


@case
def injected():
    """One request by curl, several in one packet by nghttp, and an own traceparent stays the only one"""
    with pair("--http2") as net:
        with served(net) as seen:
            equal(curl(net), "200 2", "answer")
            net.app.run([need_program("nghttp"), "-m", "6", f"http://{Pair.PEER}:{PORT}/a"])
        judge(seen, 7, 7)
        with served(net) as seen, counted(net.agent, present=1):
            equal(curl(net, "-H", f"traceparent: {OWN}"), "200 2", "answer")
        judge(seen, 1, 1)
        equal("-".join(("00", *seen[1][0], "01")), OWN, "the program's own")


@case
def many():
    """1,200 requests on four connections, eight streams at once: a header each"""
    with pair("--http2") as net:
        with served(net) as seen, counted(net.agent, injected=1200, dropped=0):
            load(net, 1200, 4, 8)
        judge(seen, 1200, 1200)


@case
def crowded():
    """A hundred streams at once: what does not fit into the edits of a flow is left alone, and counted"""
    with pair("--http2") as net:
        before = net.agent.stats()
        with served(net) as seen:
            load(net, 2000, 2, 100)
        after = net.agent.stats()
        added, full = (after[name] - before[name] for name in ("injected", "edits-full"))
        equal(added + full, 2000, "requests with a header, and without")
        judge(seen, 2000, added)


@case
def packets_lost():
    """600 requests while four of a hundred packets are lost in both directions: a header each, no stream breaks"""
    with pair("--http2") as net, lossy(net.peer, "input", LOSS), lossy(net.peer, "output", LOSS):
        with served(net) as seen:
            load(net, 600, 4, 4)
        judge(seen, 600, 600)


@case
def large_head():
    """A head that goes on in CONTINUATION frames is left alone; later requests of the connection are not"""
    cookie = "c=" + "x" * 30000
    with pair("--http2") as net:
        with served(net) as seen, counted(net.agent, h2_continuation=lambda n: n >= 1):
            net.app.run([need_program("nghttp"), "-H", f"x-large: {cookie}", f"http://{Pair.PEER}:{PORT}/a"])
        equal(seen[2], [], "errors")


@case
def daemon_gone():
    """The daemon goes while connections are open: they stay translated, and new ones are left alone"""
    with pair("--http2") as net:
        with served(net) as seen:
            loading = net.app.spawn([need_program("h2load"), "-D", "6", "-c", "2", "-m", "4", f"http://{Pair.PEER}:{PORT}/a"],
                                    stdout=subprocess.PIPE, text=True)
            wait_until(lambda: net.agent.stats()["injected"] > 100, "requests get headers")
            net.agent.stop()
            said = loading.communicate(timeout=30)[0]
            equal(re.findall(r"(\d+) failed, (\d+) errored", said), [("0", "0")], said)
        equal(seen[2], [], "errors")


@case
def node():
    """Node's http2: 600 requests on one connection, six at once, whose fields are indexed and evicted"""
    with pair("--http2") as net:
        with served(net) as seen:
            done = net.app.run([need_program("node"), PROGRAMS / "http2_client.js", f"http://{Pair.PEER}:{PORT}", 600, 6],
                               timeout=60)
            equal(done.stdout, "600\n", "answers with status 200")
        judge(seen, 600, 600)


@case
def grpc():
    """gRPC's C core: 600 calls, six at once, answered with their own bytes; each has one traceparent"""
    if importlib.util.find_spec("grpc") is None:
        raise Skip("python3-grpcio is not installed")
    with pair("--http2") as net:
        server = net.peer.spawn([sys.executable, PROGRAMS / "grpc_echo.py", "serve", PORT], stdout=subprocess.PIPE, text=True)
        equal(server.stdout.readline(), "ready\n", "the server")
        done = net.app.run([sys.executable, PROGRAMS / "grpc_echo.py", "ask", f"{Pair.PEER}:{PORT}", 600, 6], timeout=60)
        equal(done.stdout, "600 600 600\n", "calls, traceparents, different ones")
